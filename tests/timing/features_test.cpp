// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/features.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

// The value of a named column of the only row.
float column(const FeatureTable& table, const std::string& name) {
    const auto& columns = feature_columns(table.net);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == name) return table.features.at(i);
    }
    FAIL("no column " << name);
    return 0.0f;
}

FeatureTable row(Net net, const Operator& op, const Device& device, Clock clock = Clock::kernel) {
    FeatureTable table(net);
    table.append({&op, &device, clock}, -1);
    return table;
}

}  // namespace

TEST_CASE("tiles over multiprocessors make waves", "[features]") {
    // 256 x 384 in tiles of 128 x 128 is 2 x 3 = 6 tiles on 80 multiprocessors: 0.075 waves, every tile full.
    const FeatureTable full = row(Net::product, linear(256, 512, 384), v100());
    CHECK_THAT(column(full, "waves_128x128"), WithinAbs(std::log(0.075), 1e-5));
    CHECK_THAT(column(full, "wave_fill_128x128"), WithinAbs(0.075, 1e-6));
    CHECK_THAT(column(full, "tile_fill_128x128"), WithinAbs(1.0, 1e-6));
    // 100 x 100 fills 10,000 of the 16,384 places of its one tile; in tiles of 32 x 32 it is 4 x 4 = 16 tiles.
    const FeatureTable part = row(Net::product, linear(100, 512, 100), v100());
    CHECK_THAT(column(part, "tile_fill_128x128"), WithinAbs(10000.0 / 16384.0, 1e-6));
    CHECK_THAT(column(part, "wave_fill_32x32"), WithinAbs(0.2, 1e-6));  // 16 / 80
    // 9 x 9 tiles of 128 x 128 are 81 on 80 multiprocessors: the second wave is almost empty.
    const FeatureTable two = row(Net::product, linear(1152, 512, 1152), v100());
    CHECK_THAT(column(two, "wave_fill_128x128"), WithinAbs(81.0 / 160.0, 1e-6));
}

TEST_CASE("a convolution is read as the implicit product it computes", "[features]") {
    // m = 2 x 56 x 56 = 6272 positions, k = 64 x 9 = 576 taps, n = 128 channels.
    const FeatureTable t = row(Net::conv, conv2d(2, 64, 128, 56, 3), v100());
    CHECK_THAT(column(t, "log_m"), WithinAbs(std::log(6272.0), 1e-5));
    CHECK_THAT(column(t, "log_k"), WithinAbs(std::log(576.0), 1e-5));
    CHECK_THAT(column(t, "wave_fill_128x128"), WithinAbs(49.0 / 80.0, 1e-6));  // 49 x 1 tiles
    CHECK(column(t, "winograd") == 1.0f);
    CHECK(column(t, "fft") == 0.0f);
    CHECK(column(t, "padded") == 1.0f);  // 55 + 3 = 58 positions read of 56
}

TEST_CASE("transforms of a convolution compute whole blocks of outputs and samples", "[features]") {
    // 7 x 7 outputs take 2 x 2 blocks of 4 x 4: 49 of 64 are of use. 9 samples take two groups of 8.
    const FeatureTable t = row(Net::conv, conv2d(9, 64, 128, 7, 3), v100());
    CHECK_THAT(column(t, "winograd_fill_4"), WithinAbs(49.0 / 64.0, 1e-6));
    CHECK_THAT(column(t, "log_winograd_blocks"), WithinAbs(std::log(36.0), 1e-6));
    CHECK_THAT(column(t, "batch_fill_8"), WithinAbs(9.0 / 16.0, 1e-6));
    CHECK_THAT(column(t, "batch_fill_32"), WithinAbs(9.0 / 32.0, 1e-6));
    CHECK_THAT(column(t, "fft_fill_whole"), WithinAbs(81.0 / 256.0, 1e-6));  // 7 + 3 - 1 = 9 in 16
}

TEST_CASE("row-wise kernels fill multiprocessors by their threads", "[features]") {
    // A norm's row has a block of 128 threads: 2048 / 128 = 16 on each of 80 multiprocessors at once, 1280 in all. On a
    // T4, with 1024 threads on each of 40, it is 320.
    Operator norm = elementwise(Function::none, 1600, 1024);
    norm.kind = OperatorKind::layer_norm;
    CHECK_THAT(column(row(Net::memory, norm, v100()), "waves_blocks"), WithinAbs(std::log(1.25), 1e-5));
    CHECK_THAT(column(row(Net::memory, norm, v100()), "wave_fill_blocks"), WithinAbs(0.625, 1e-6));
    CHECK_THAT(column(row(Net::memory, norm, t4()), "waves_blocks"), WithinAbs(std::log(5.0), 1e-5));
    // Each thread of a block of 128 loads four elements a pass: 1024 elements take two.
    CHECK_THAT(column(row(Net::memory, norm, v100()), "row_passes"), WithinAbs(std::log(2.0), 1e-6));
}

TEST_CASE("training disturbs what stems from a GPU's figures, and nothing else", "[features]") {
    for (const Net net : {Net::conv, Net::product, Net::memory}) {
        for (const FeatureColumn& column : feature_columns(net)) {
            INFO(column.name);
            CHECK((column.figure == Figure::none) == (column.noise == 0.0f));
            CHECK(static_cast<int>(column.figure) < figure_count);
            if (column.name.starts_with("waves_")) CHECK(column.figure == Figure::processors);
        }
    }
}

TEST_CASE("the physics stands beside the network's columns", "[features]") {
    const FeatureTable t = row(Net::product, linear(1024, 1024, 1024), v100());
    REQUIRE(t.rows() == 1);
    CHECK_THAT(t.physics[0].log_compute_s, WithinRel(std::log(2147483648.0 / 14.13e12), 1e-5));
    CHECK_THAT(t.physics[0].log_memory_s, WithinRel(std::log(12582912.0 / 900e9), 1e-5));
    CHECK(t.physics[0].log_slowness_min == 0.0f);  // no product is faster than the sustained rate
    CHECK(t.physics[0].adds_launch == 0.0f);
    CHECK(t.physics[0].update_s == 0.0f);
    CHECK_THAT(column(t, "log_intensity"), WithinAbs(t.physics[0].log_compute_s - t.physics[0].log_memory_s, 1e-5));
}

TEST_CASE("only fp32 convolutions may beat the direct algorithm's arithmetic", "[features]") {
    Operator op = conv2d(2, 64, 128, 56, 3);
    CHECK_THAT(row(Net::conv, op, v100()).physics[0].log_slowness_min, WithinAbs(-std::log(2.5), 1e-5));
    op.precision = Precision::fp16;
    CHECK(row(Net::conv, op, v100()).physics[0].log_slowness_min == 0.0f);
    CHECK(row(Net::conv, conv2d(2, 64, 128, 56, 1), v100()).physics[0].log_slowness_min == 0.0f);
}

TEST_CASE("a measured training step carries the update of weights, input and target", "[features]") {
    Operator op = linear(64, 32, 16);  // 512 weights, 2048 inputs, 1024 outputs: 3584 elements
    op.phase = Phase::train_step;
    op.optimizer = Optimizer::sgd;  // 3 accesses of 4 bytes each
    const FeatureTable session = row(Net::product, op, p100(), Clock::session);
    CHECK_THAT(session.physics[0].update_s, WithinRel(3.0 * 4.0 * 3584.0 / 732e9, 1e-5));
    CHECK(session.physics[0].adds_launch == 1.0f);
    CHECK(row(Net::product, op, p100(), Clock::kernel).physics[0].update_s == 0.0f);
    op.optimizer = Optimizer::adam;  // 8 accesses; the network itself sees no optimizer
    CHECK(row(Net::product, op, p100(), Clock::session).features == session.features);
}

TEST_CASE("traffic that fits the cache goes at the cache's rate, larger traffic at the memory's", "[features]") {
    // 2 x 4 x 64 x 1024 = 0.5 MB of a 6 MB cache; 80 SMs x 1.38 GHz x 32 B = 3533 GB/s.
    const float small = row(Net::memory, elementwise(Function::relu, 64, 1024), v100()).physics[0].log_memory_s;
    CHECK_THAT(std::exp(small), WithinRel(524288.0 / 3532.8e9, 0.01));  // the rest, 0.1 %, comes from memory
    const float large = row(Net::memory, elementwise(Function::relu, 65536, 1024), v100()).physics[0].log_memory_s;
    CHECK_THAT(std::exp(large), WithinRel(536870912.0 / 900e9, 0.01));
}

TEST_CASE("column names are unique and as many as the values", "[features]") {
    const auto [net, op] = GENERATE(table<Net, Operator>({{Net::conv, conv2d(2, 3, 8, 32, 3)},
                                                          {Net::product, linear(8, 8, 8)},
                                                          {Net::memory, elementwise(Function::add, 8, 8)}}));
    std::set<std::string> names;
    for (const FeatureColumn& c : feature_columns(net)) names.insert(c.name);
    CHECK(names.size() == feature_columns(net).size());
    CHECK(row(net, op, t4()).features.size() == names.size());
}

TEST_CASE("absurd sizes give finite features", "[features]") {
    Operator op = linear(0, 0, 0);
    for (const float v : row(Net::product, op, Device{}).features) CHECK_FALSE(std::isnan(v));
    op = linear(std::int64_t{1} << 40, std::int64_t{1} << 40, std::int64_t{1} << 40);
    for (const float v : row(Net::product, op, v100()).features) CHECK(std::isfinite(v));
}

TEST_CASE("a host's launch has a constant for each operator, a session's for each optimizer", "[features]") {
    Operator op = linear(8, 8, 8);
    const auto launch = [&](Clock c) { return row(Net::product, op, v100(), c).launch[0]; };
    CHECK(launch(Clock::call) < operator_slots);
    CHECK(launch(Clock::session) == operator_slots);  // optimizer none
    op.optimizer = Optimizer::sgd;
    CHECK(launch(Clock::session) == operator_slots + 1);
    CHECK(row(Net::product, op, v100(), Clock::call).physics[0].host_launch == 1.0f);
    CHECK(row(Net::product, op, v100(), Clock::kernel).physics[0].host_launch == 0.0f);
}
