// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/train.h"

#include <catch2/catch.hpp>
#include <cstdio>

#include "predictor/base/text.h"
#include "predictor/timing/layer_time_model.h"
#include "predictor/timing/physics.h"
#include "tests/scratch_folder.h"
#include "tests/timing/devices.h"

using namespace dlcast;

namespace {

const std::string module_file = DLCAST_BINARY_DIR "/predictor/torch/dlcast_torch.so";

// Elementwise rows at 80 % of the bandwidth, and products at 60 % of the rate.
std::string invented_table() {
    std::string text = "rid,set,source,gpu,op,m,k,n,rows,cols,time_ms\n";
    const Device d = test::v100();
    for (int i = 0; i < 600; ++i) {
        const char* set = i % 6 == 0 ? "valid" : "train";
        const std::int64_t rows = 1000 + 37 * i, size = 512 + 8 * (i % 200);
        const double add_ms = 1e3 * 12.0 * static_cast<double>(rows) * 1024.0 / (0.8 * d.memory_bandwidth_Bps);
        const double product_ms = 1e3 * 2.0 * static_cast<double>(size * size * size) / (0.6 * d.fp32_flops_per_s);
        text += "a" + std::to_string(i) + "," + set + ",here,V100-PCIE-32GB,add,,,," + std::to_string(rows) + ",1024," +
                std::to_string(add_ms) + "\n";
        const std::string n = std::to_string(size);
        text += "p" + std::to_string(i) + "," + set + ",here,V100-PCIE-32GB,linear," + n + "," + n + "," + n + ",,," +
                std::to_string(product_ms) + "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("training learns an invented law, and the same seed the same weights", "[train][torch]") {
    if (!std::filesystem::exists(module_file)) {
        std::puts("SKIPPED: this build has no dlcast_torch.so");
        return;
    }
    const ScratchFolder folder;
    DeviceCatalog catalog;
    catalog.add(test::v100(), {});
    TrainOptions options;
    options.ops = {folder.write("ops.csv", invented_table())};
    options.effort = 3.0;
    options.module_path = module_file;
    options.out = folder.path("weights");
    const auto first = train_weights(options, catalog);
    if (!first) FAIL(first.error().message);
    for (const HeldOutError& h : first->held_out) {
        INFO(h.op);
        CHECK(h.mape_pct < 5.0);  // the law is smooth: what is left is the fit's
        CHECK(h.mape_pct < h.roofline_mape_pct);
    }
    CHECK(first->held_out.size() == 2);
    CHECK(open_torch_model(module_file, options.out));

    options.out = folder.path("again");
    const auto second = train_weights(options, catalog);
    REQUIRE(second);
    const auto network = [&](const char* dir) {
        const auto model = open_torch_model(module_file, folder.path(dir));
        REQUIRE(model);
        Operator op;
        op.kind = OperatorKind::linear;
        op.m = op.k = op.n = 777;
        const Device device = test::v100();
        const OperatorQuery query{&op, &device, Clock::call};
        const auto times = (*model)->times({&query, 1});
        REQUIRE(times);
        return times->front().median_s;
    };
    CHECK(network("weights") == network("again"));
}

TEST_CASE("training without rows or without the module says so", "[train]") {
    const ScratchFolder folder;
    DeviceCatalog catalog;
    catalog.add(test::v100(), {});
    TrainOptions options;
    options.ops = {folder.write("ops.csv", "rid,gpu,op\n")};
    options.out = folder.path("weights");
    options.module_path = "/nonexistent.so";
    const auto no_module = train_weights(options, catalog);
    REQUIRE_FALSE(no_module);
    CHECK(no_module.error().fault == Fault::unavailable);
    if (!std::filesystem::exists(module_file)) return;
    options.module_path = module_file;
    const auto no_rows = train_weights(options, catalog);
    REQUIRE_FALSE(no_rows);
    CHECK(no_rows.error().message.find("no row to learn from") != std::string::npos);
}
