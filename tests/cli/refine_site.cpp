// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/cli/refine_site.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "tests/timing/operators.h"

namespace dlcast::test {

const std::string module_file = DLCAST_BINARY_DIR "/predictor/torch/dlcast_torch.so";
const std::string shipped_weights = DLCAST_SOURCE_DIR "/etc/weights";

bool has_torch() {
    if (std::filesystem::exists(module_file)) return true;
    std::puts("SKIPPED: this build has no dlcast_torch.so");
    return false;
}

TimingSample sample_of(SamplePoint point, double median_s) {
    TimingSample out;
    out.device.name = gpu;
    out.device.units = 142;
    out.versions = {{"backend", "test"}};
    out.host = "node";
    out.point = std::move(point);
    out.repetitions = 10;
    out.median_s = out.fastest_s = out.slowest_s = median_s;
    return out;
}

Site::Site() : catalog_(*shipped_catalog()), device_(*catalog_.find(gpu)) {
    for (std::int64_t m = 256; m <= 8192; m *= 2)
        for (std::int64_t n = 256; n <= 4096; n *= 2) operators_.push_back(linear(m, 1024, n));
    options.weights = shipped_weights;
    options.out = folder.path("weights");
    options.module_path = module_file;
}

void Site::measure(const std::function<double(std::size_t, double)>& times) {
    std::string text;
    const auto forecast_s = forecasts(shipped_weights);
    for (std::size_t i = 0; i < operators_.size(); ++i)
        text += to_json_line(sample_of(operators_[i], times(i, forecast_s[i]))) + "\n";
    options.samples = {folder.write("samples.jsonl", text)};
}

std::vector<double> Site::forecasts(const std::string& weights) const {
    const auto model = open_refined_model(module_file, weights);
    REQUIRE(model);
    std::vector<OperatorQuery> queries;
    for (const Operator& op : operators_) queries.push_back({&op, &device_});
    std::vector<double> out;
    const auto times = (*model)->times(queries);
    REQUIRE(times);
    for (const OperatorTime& time : *times) out.push_back(time.median_s);
    return out;
}

const RefinedKind& kind_of(const Refined& refined, const std::string& kind) {
    for (const RefinedKind& entry : refined.errors)
        if (entry.kind == kind) return entry;
    FAIL("no kind " << kind);
    return refined.errors.front();
}

}  // namespace dlcast::test
