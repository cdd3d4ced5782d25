// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/cli/refine_site.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "predictor/device/usual_node.h"
#include "predictor/step/step_anchor.h"
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

Result<Refined> Site::refine() {
    said.clear();
    options.say = [this](const std::string& line) { said += line + "\n"; };
    return dlcast::refine(options, catalog_);
}

void Site::measure_steps(const std::vector<std::pair<MeasuredPass, double>>& steps) {
    std::string text;
    for (const auto& [pass, time_s] : steps) text += to_json_line(sample_of(pass, time_s)) + "\n";
    options.samples = {folder.write("steps.jsonl", text)};
}

StepEstimate Site::step_forecast(const std::string& weights, const std::string& model, int batch) const {
    WorkloadOverrides overrides;
    overrides.batch_size = batch;
    const auto workload = to_workload(*read_model_argument(model), overrides);
    REQUIRE(workload);
    Allocation allocation;
    allocation.device = device_;
    allocation.intra_node = intra_node_link(device_);
    const std::vector<StepQuery> queries{{&*workload, allocation}};
    const auto steps = read_step_weights(weights);
    REQUIRE(steps);
    auto estimates = estimate_steps(queries, **open_refined_model(module_file, weights), *steps);
    REQUIRE(estimates);
    REQUIRE(anchor_steps(queries, catalog_, *steps, *estimates));
    return estimates->front();
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
