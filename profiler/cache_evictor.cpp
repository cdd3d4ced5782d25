// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/cache_evictor.h"

#include <algorithm>

namespace dlcast {

CacheEvictor::CacheEvictor(double cache_bytes) {
    constexpr double most_bytes = 1e9;
    memory_.resize(static_cast<std::size_t>(2.0 * std::clamp(cache_bytes, 0.0, most_bytes)));
}

void CacheEvictor::evict() { touch(memory_.size()); }

void CacheEvictor::evict_inner() {
    constexpr std::size_t inner_bytes = std::size_t{2} << 20;
    touch(std::min(memory_.size(), inner_bytes));
}

void CacheEvictor::touch(std::size_t bytes) {
    constexpr std::size_t line = 64;
    for (std::size_t i = 0; i < bytes; i += line) ++memory_[i];
}

}  // namespace dlcast
