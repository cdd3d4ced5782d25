// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of a plan of what to measure: what is read must be written as it reads back.
#include <cstddef>
#include <cstdint>

#include "predictor/samples/sample_point.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t longest_that_fits = 60 << 10;  // members with their default are written too
    const auto point = dlcast::parse_plan_line({reinterpret_cast<const char*>(data), size}, "fuzz.jsonl", 1);
    if (!point || size > longest_that_fits) return 0;
    const auto again = dlcast::parse_plan_line(dlcast::to_plan_line(*point), "again.jsonl", 1);
    if (!again || *again != *point) __builtin_trap();
    return 0;
}
