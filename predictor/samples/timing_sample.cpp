// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/samples/timing_sample.h"

#include <array>

#include "predictor/base/json.h"

namespace dlcast {
namespace {

constexpr double mega = 1e6;
constexpr std::array clock_names{"kernel", "call", "host"};

Value device_value(const SampleDevice& device) {
    Value out = Value::object();
    out.set("name", device.name);
    out.set("units", device.units);
    if (device.clock_Hz > 0) out.set("clock_MHz", device.clock_Hz / mega);
    if (device.memory_clock_Hz > 0) out.set("memory_clock_MHz", device.memory_clock_Hz / mega);
    if (!device.driver.empty()) out.set("driver", device.driver);
    return out;
}

}  // namespace

std::string to_json_line(const TimingSample& sample) {
    Value out = Value::object();
    out.set("v", timing_sample_version);
    out.set("device", device_value(sample.device));
    Value versions = Value::object();
    for (const auto& [name, version] : sample.versions) versions.set(name, version);
    out.set("versions", versions);
    if (!sample.host.empty()) out.set("host", sample.host);
    out.set("rank", sample.rank);
    out.set("clock", clock_names[static_cast<std::size_t>(sample.clock)]);
    put_point(out, sample.point);
    out.set("repetitions", sample.repetitions);
    out.set("outliers", sample.outliers);
    out.set("median_s", sample.median_s);
    out.set("relative_ci", sample.relative_ci);
    out.set("fastest_s", sample.fastest_s);
    out.set("slowest_s", sample.slowest_s);
    return write_json(out);
}

Clock layer_clock(SampleClock clock) { return clock == SampleClock::call ? Clock::call : Clock::kernel; }

bool same_point(const TimingSample& a, const TimingSample& b) {
    const auto backend = [](const TimingSample& s) {
        const auto found = s.versions.find("backend");
        return found == s.versions.end() ? std::string() : found->second;
    };
    return a.point == b.point && a.device.name == b.device.name && a.device.units == b.device.units &&
           a.rank == b.rank && a.host == b.host && a.clock == b.clock && backend(a) == backend(b);
}

}  // namespace dlcast
