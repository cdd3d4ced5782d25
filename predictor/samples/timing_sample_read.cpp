// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/samples/timing_sample.h"

namespace dlcast {
namespace {

constexpr double mega = 1e6;
constexpr std::int64_t most_ranks = 1 << 24;
constexpr std::int64_t most_repetitions = 1'000'000'000;
constexpr double longest_s = 1e7;    // a third of a year
constexpr double shortest_s = 1e-9;  // no call ends within a few clocks

Result<SampleDevice> read_device(const Value& value, const std::string& source) {
    ObjectReader r(value, source, "device");
    SampleDevice out;
    r.require("name", "add the key of the device in gpus.toml");
    out.name = r.string("name").value_or("");
    if (r.has("name") && squeeze(out.name).empty()) r.fail("name", "a name needs letters or digits");
    out.units = static_cast<int>(r.integer("units", 0, 1 << 20).value_or(0));
    out.clock_Hz = r.number("clock_MHz", 1, 100'000).value_or(0.0) * mega;
    out.memory_clock_Hz = r.number("memory_clock_MHz", 1, 100'000).value_or(0.0) * mega;
    out.driver = r.string("driver").value_or("");
    if (auto status = r.finish(); !status) return status.error();
    return out;
}

Status read_versions(const Value& value, const std::string& source, std::map<std::string, std::string>& out) {
    if (!value.is_object())
        return invalid_argument(at_place(source, value.at, "versions should be an object of strings"));
    for (const Value::Member& member : value.as_object()) {
        if (!member.value.is_string())
            return invalid_argument(
                at_place(source, member.at,
                         fmt::format("version of {} is {}; write a string", member.key, member.value.kind_name())));
        out[member.key] = member.value.as_string();
    }
    return ok();
}

void read_measurement(ObjectReader& r, TimingSample& out) {
    for (const char* key : {"repetitions", "median_s", "relative_ci"})
        r.require(key, "a sample without it says nothing");
    out.repetitions = static_cast<int>(r.integer("repetitions", 1, most_repetitions).value_or(0));
    out.outliers = static_cast<int>(r.integer("outliers", 0, most_repetitions).value_or(0));
    out.median_s = r.number("median_s", 0.0, longest_s).value_or(0.0);
    out.relative_ci = r.number("relative_ci", 0.0, 1e6).value_or(0.0);
    out.fastest_s = r.number("fastest_s", 0.0, longest_s).value_or(out.median_s);
    out.slowest_s = r.number("slowest_s", 0.0, longest_s).value_or(out.median_s);
    if (r.failed()) return;
    if (out.median_s < shortest_s) r.fail("median_s", "median_s should be a nanosecond or more");
    if (out.outliers > out.repetitions) r.fail("outliers", "more outliers than repetitions");
    if (out.fastest_s > out.median_s || out.slowest_s < out.median_s)
        r.fail("median_s", "the median should lie between fastest_s and slowest_s");
}

}  // namespace

Result<TimingSample> parse_timing_sample(std::string_view text, const std::string& source, int line) {
    auto root = parse_json_line(text, source, line);
    if (!root) return root.error();
    ObjectReader r(*root, source, "sample");
    TimingSample out;
    r.require("v", "add \"v\": 1");
    if (const auto version = r.integer("v", 1, 1'000'000); version && *version != timing_sample_version)
        r.fail("v",
               fmt::format("version {} is not known; this dlcast reads version {}", *version, timing_sample_version));
    r.require("device", "add \"device\": {\"name\": ...}");
    if (r.failed()) return r.finish().error();
    auto device = read_device(*r.value("device"), source);
    if (!device) return device.error();
    out.device = std::move(*device);
    if (const Value* versions = r.value("versions"))
        if (auto status = read_versions(*versions, source, out.versions); !status) return status.error();
    out.host = r.string("host").value_or("");
    out.rank = static_cast<int>(r.integer("rank", 0, most_ranks).value_or(0));
    if (const auto index = r.choice("clock", {"kernel", "call", "host"})) out.clock = static_cast<SampleClock>(*index);
    // Files of earlier versions call a CPU's time a kernel's.
    if (const auto backend = out.versions.find("backend");
        out.clock == SampleClock::kernel && backend != out.versions.end() && backend->second == "torch-cpu")
        out.clock = SampleClock::host;
    auto point = read_point(r, *root, source);
    if (!point) return point.error();
    out.point = std::move(*point);
    read_measurement(r, out);
    if (auto status = r.finish(); !status) return status.error();
    return out;
}

Status read_timing_samples(const std::string& path, const std::function<void(TimingSample&&, int line)>& use) {
    const std::string source = shown_path(path);
    return for_each_line(path, [&](std::string_view text, int line) -> Status {
        auto sample = parse_timing_sample(text, source, line);
        if (!sample) return sample.error();
        use(std::move(*sample), line);
        return ok();
    });
}

}  // namespace dlcast
