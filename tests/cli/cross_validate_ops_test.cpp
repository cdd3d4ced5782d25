// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cross_validate_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>

#include "predictor/base/text.h"
#include "predictor/timing/physics.h"
#include "tests/scratch_folder.h"
#include "tests/timing/devices.h"

using namespace dlcast;

namespace {

const std::string module_file = DLCAST_BINARY_DIR "/predictor/torch/dlcast_torch.so";

// Products at 60 % of the V100's rate, at 30 % of the P100's: what no data sheet tells.
std::string two_gpus() {
    std::string text = "rid,set,source,gpu,op,m,k,n,time_ms\n";
    int id = 0;
    for (const auto& [device, efficiency] : {std::pair{test::v100(), 0.6}, {test::p100(), 0.3}})
        for (int i = 0; i < 300; ++i) {
            const std::int64_t size = 512 + 8 * i;
            Operator op;
            op.kind = OperatorKind::linear;
            op.m = op.k = op.n = size;
            const double ms = 1e3 * flops(op) / (efficiency * sustained_flops_per_s(device, op));
            text += fmt::format("p{},{},here,{},linear,{},{},{},{:.6f}\n", id++, i % 6 == 0 ? "valid" : "train",
                                device.name, size, size, size, ms);
        }
    return text;
}

DeviceCatalog catalog() {
    DeviceCatalog out;
    out.add(test::v100(), {});
    out.add(test::p100(), {});
    return out;
}

}  // namespace

TEST_CASE("a GPU is forecast by weights without it, and a few of its rows mend the level", "[ops][torch]") {
    if (!std::filesystem::exists(module_file)) {
        std::puts("SKIPPED: this build has no dlcast_torch.so");
        return;
    }
    const ScratchFolder folder;
    OpsCrossValidation options;
    options.files = {folder.write("ops.csv", two_gpus())};
    options.fact = "gpu";
    options.only = {"p100 pcie 16gb"};
    options.effort = 2.0;
    options.work = folder.path("work");
    options.pred_path = folder.path("pred.csv");
    options.module_path = module_file;
    const auto unseen = cross_validate_ops(options, catalog());
    if (!unseen) FAIL(unseen.error().message);
    CHECK(unseen->rows == 300);
    // Half of the rate that the other GPU reaches: times of 0.5 instead of 1.
    CHECK(unseen->errors.total().mape_pct > 35.0);

    const std::string manifest = folder.path("work/gpu-p100pcie16gb/manifest.toml");
    const auto written = std::filesystem::last_write_time(manifest);
    options.fit_rows = 10;
    const auto fitted = cross_validate_ops(options, catalog());
    REQUIRE(fitted);
    CHECK(std::filesystem::last_write_time(manifest) == written);  // the finished fold was taken as it is
    CHECK(fitted->errors.rows() == 290);                           // the ten are no part of the errors
    CHECK(fitted->errors.total().mape_pct < 0.5 * unseen->errors.total().mape_pct);
    const auto pred = read_file(options.pred_path, 1 << 20);
    REQUIRE(pred);
    CHECK(std::count(pred->begin(), pred->end(), '\n') == 301);

    options.only = {"T4"};
    const auto none = cross_validate_ops(options, catalog());
    REQUIRE_FALSE(none);
    CHECK(none.error().message.find("'T4'") != std::string::npos);
}
