// SPDX-License-Identifier: GPL-2.0-or-later
// Random numbers that are the same with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlcast {

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): the next 64 bits of `state`.
std::uint64_t next_random(std::uint64_t& state);

/// min(count, rows) distinct rows in a random order; all rows in their own order where count >= rows.
std::vector<std::size_t> draw_rows(std::size_t rows, std::size_t count, std::uint64_t seed);

}  // namespace dlcast
