// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of a file of timing samples: what is read must be written as it reads back.
#include <cstddef>
#include <cstdint>

#include "predictor/samples/timing_sample.h"

namespace {

bool same_figures(const dlcast::TimingSample& a, const dlcast::TimingSample& b) {
    return a.repetitions == b.repetitions && a.outliers == b.outliers && a.median_s == b.median_s &&
           a.relative_ci == b.relative_ci && a.fastest_s == b.fastest_s && a.slowest_s == b.slowest_s &&
           a.versions == b.versions;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Members that a line may lack are written always: a line near the limit would come out beyond it.
    constexpr std::size_t longest_that_fits = 60 << 10;
    const auto sample = dlcast::parse_timing_sample({reinterpret_cast<const char*>(data), size}, "fuzz.jsonl", 1);
    if (!sample || size > longest_that_fits) return 0;
    const auto again = dlcast::parse_timing_sample(dlcast::to_json_line(*sample), "again.jsonl", 1);
    if (!again || !same_point(*sample, *again) || !same_figures(*sample, *again)) __builtin_trap();
    return 0;
}
