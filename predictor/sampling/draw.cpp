// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/draw.h"

#include <numeric>
#include <utility>

namespace dlcast {

std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

std::vector<std::size_t> draw_rows(std::size_t rows, std::size_t count, std::uint64_t seed) {
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (count >= rows) return order;
    for (std::size_t i = 0; i < count; ++i) std::swap(order[i], order[i + next_random(seed) % (rows - i)]);
    order.resize(count);
    return order;
}

}  // namespace dlcast
