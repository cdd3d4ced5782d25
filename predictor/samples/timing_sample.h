// SPDX-License-Identifier: GPL-2.0-or-later
// TimingSample: one measured point, as dlcast-profile and dlcast-sweep write it, one JSON object a line
// (docs/timing-samples.md, etc/schema/timing-sample.schema.json).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "predictor/base/result.h"
#include "predictor/samples/sample_point.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

inline constexpr int timing_sample_version = 1;

/// What a time was taken by.
enum class SampleClock {
    kernel,  // the GPU's busy time
    call,    // around one call to a GPU, the host's part included
    host,    // the host's clock around work that the host itself does
};
/// The clock that the layer-time model knows it by: a CPU computes inside of the call, so no launch stands beside it.
Clock layer_clock(SampleClock clock);

/// The device as it was while it measured; its lasting figures stand in the catalog under `name`.
struct SampleDevice {
    std::string name;              // catalog key
    int units = 0;                 // threads of a CPU, multiprocessors of a GPU at work
    double clock_Hz = 0.0;         // 0: not told
    double memory_clock_Hz = 0.0;  // 0: not told
    std::string driver;            // "" for a CPU

    bool operator==(const SampleDevice&) const = default;
};

struct TimingSample {
    SampleDevice device;
    std::map<std::string, std::string> versions;  // "dlcast", "backend", "libtorch", ...
    std::string host;
    int rank = 0;
    SampleClock clock = SampleClock::kernel;
    SamplePoint point;

    int repetitions = 0;       // all of them, outliers among them
    int outliers = 0;          // repetitions beyond Tukey's outer fences (three interquartile ranges off the quartiles)
    double median_s = 0.0;     // of all repetitions
    double relative_ci = 0.0;  // half width of the median's 95 % confidence interval, over the median
    double fastest_s = 0.0, slowest_s = 0.0;

    bool operator==(const TimingSample&) const = default;
};

/// One line, without its end.
std::string to_json_line(const TimingSample& sample);

/// `source` and `line` start messages. Errors (invalid_argument: place, fault, remedy): not one JSON object, unknown,
/// missing or impossible members, another version, not exactly one of operator, collective and pass.
Result<TimingSample> parse_timing_sample(std::string_view text, const std::string& source, int line);

/// Calls `use` for each line of a file in order, with its number; empty lines are passed over. Errors: those above
/// (reading ends there), an unreadable file, a line over 64 KiB, more than 10 million lines.
Status read_timing_samples(const std::string& path, const std::function<void(TimingSample&&, int line)>& use);

/// The same point on the same device in the same way: what a resumed run need not measure again.
bool same_point(const TimingSample& a, const TimingSample& b);

}  // namespace dlcast
