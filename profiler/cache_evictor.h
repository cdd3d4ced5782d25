// SPDX-License-Identifier: GPL-2.0-or-later
// Puts a CPU's caches into the state that they have inside of a step.
#pragma once

#include <cstddef>
#include <vector>

namespace dlcast {

/// Reads and writes memory twice as large as the last cache: what lay in the caches before does so no more.
class CacheEvictor {
public:
    /// 0 bytes: there is nothing to evict.
    explicit CacheEvictor(double cache_bytes);
    void evict();
    /// Of the caches before the last one alone.
    void evict_inner();

private:
    void touch(std::size_t bytes);
    std::vector<unsigned char> memory_;
};

}  // namespace dlcast
