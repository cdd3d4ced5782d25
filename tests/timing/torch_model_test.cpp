// SPDX-License-Identifier: GPL-2.0-or-later
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "predictor/base/text.h"
#include "predictor/timing/layer_time_model.h"
#include "predictor/timing/physics.h"
#include "predictor/timing/weights_manifest.h"
#include "tests/scratch_folder.h"
#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;

namespace {

const std::string module_file = DLCAST_BINARY_DIR "/predictor/torch/dlcast_torch.so";
const std::string shipped_weights = DLCAST_SOURCE_DIR "/etc/weights";

// Nothing, and a line, where this build has no LibTorch.
std::unique_ptr<LayerTimeModel> shipped_model() {
    if (!std::filesystem::exists(module_file)) {
        std::puts("SKIPPED: this build has no dlcast_torch.so");
        return nullptr;
    }
    auto model = open_torch_model(module_file, shipped_weights);
    if (!model) FAIL(model.error().message);
    return std::move(*model);
}

std::vector<Operator> known_operators() {
    Operator softmax;
    softmax.kind = OperatorKind::softmax;
    softmax.rows = 8192;
    softmax.cols = 1024;
    Operator bmm = linear(512, 64, 512);
    bmm.kind = OperatorKind::bmm;
    bmm.batch = 192;
    return {linear(4096, 4096, 4096),
            linear(512, 768, 3072),
            conv2d(32, 64, 128, 56, 3),
            bmm,
            softmax,
            elementwise(Function::add, 8192, 4096)};
}

// A copy of the shipped weights that a test may spoil.
class SpoiledWeights {
public:
    SpoiledWeights() : dir_(folder_.path("weights")) { std::filesystem::copy(shipped_weights, dir_); }
    std::string file(const char* name) const { return dir_ + "/" + name; }
    // The message with which opening them is refused.
    std::string refusal() const {
        const auto model = open_torch_model(module_file, dir_);
        REQUIRE_FALSE(model);
        CHECK(model.error().fault == Fault::unavailable);
        return model.error().message;
    }
    void replace(const char* name, const std::string& old_text, const std::string& new_text) const {
        auto text = read_file(file(name), 1 << 20);
        REQUIRE(text);
        const auto at = text->find(old_text);
        REQUIRE(at != std::string::npos);
        text->replace(at, old_text.size(), new_text);
        REQUIRE(write_file_atomically(file(name), *text));
    }

private:
    ScratchFolder folder_;
    std::string dir_;
};

}  // namespace

TEST_CASE("the network and the analytic model agree within a factor on common operators", "[torch]") {
    const auto model = shipped_model();
    if (!model) return;
    CHECK(model->by() == "torch");
    const auto device = GENERATE(v100(), t4(), p100(), h100(), mi210());
    const auto operators = known_operators();
    std::vector<OperatorQuery> queries;
    for (const Operator& op : operators) queries.push_back({&op, &device});
    const auto network = model->times(queries);
    const auto analytic = make_analytic_model()->times(queries);
    REQUIRE(network);
    REQUIRE(analytic);
    for (std::size_t i = 0; i < operators.size(); ++i) {
        INFO(device.name << ", operator " << i);
        // One typical efficiency is off by up to two for a shape; a 3 x 3 convolution saves arithmetic besides.
        CHECK((*network)[i].median_s < 3.0 * (*analytic)[i].median_s);
        CHECK((*network)[i].median_s > (*analytic)[i].median_s / 3.0);
        CHECK((*network)[i].log_sd > 0.0);
    }
}

TEST_CASE("no forecast of a product is faster than the sustained rate in any precision", "[torch]") {
    const auto model = shipped_model();
    if (!model) return;
    const auto precision =
        GENERATE(Precision::fp32, Precision::tf32, Precision::amp, Precision::fp16, Precision::bf16, Precision::fp8);
    const Device device = h100();  // not among the GPUs it learnt from
    for (const std::int64_t size : {256, 1024, 4096, 16384}) {
        const Operator op = linear(size, size, size, precision);
        const OperatorQuery query{&op, &device};
        const auto times = model->times({&query, 1});
        REQUIRE(times);
        CHECK(times->front().median_s >= bounds(device, op).compute_s);
        CHECK(times->front().median_s < 20.0 * roofline_s(device, op) + 50e-6);
    }
}

TEST_CASE("a small kernel inside a stream is not charged a host's launch", "[torch]") {
    const auto model = shipped_model();
    if (!model) return;
    const Device device = v100();
    const Operator op = elementwise(Function::add, 64, 1024);  // 0.8 MB: 0.9 us of traffic
    const OperatorQuery queries[] = {{&op, &device, Clock::kernel}, {&op, &device, Clock::call}};
    const auto times = model->times(queries);
    REQUIRE(times);
    CHECK((*times)[0].median_s < 8e-6);
    CHECK((*times)[1].median_s > 20e-6);  // measured calls from PyTorch on this card take 25 to 40 us at least
}

TEST_CASE("every operator kind has a finite time from the network or from the analytic model", "[torch]") {
    const auto model = shipped_model();
    if (!model) return;
    Operator op = conv2d(4, 8, 8, 16, 3);
    op.m = op.k = op.n = 16;
    op.rows = 64;
    op.cols = 32;
    op.vocab = 100;
    op.optimizer = Optimizer::adam;
    const Device device = h100();
    for (int kind = 0; kind <= static_cast<int>(OperatorKind::optimizer); ++kind) {
        for (int phase = 0; phase <= static_cast<int>(Phase::update); ++phase) {
            op.kind = static_cast<OperatorKind>(kind);
            op.phase = static_cast<Phase>(phase);
            const OperatorQuery query{&op, &device};
            const auto times = model->times({&query, 1});
            REQUIRE(times);
            CHECK(std::isfinite(times->front().median_s));
            CHECK(times->front().median_s > 0.0);
        }
    }
}

TEST_CASE("the same queries have the same answers from four threads at once", "[torch]") {
    const std::shared_ptr<LayerTimeModel> model = shipped_model();
    if (!model) return;
    const auto operators = known_operators();
    const Device device = v100();
    std::vector<OperatorQuery> queries;
    for (const Operator& op : operators) queries.push_back({&op, &device});
    const auto expected = model->times(queries);
    REQUIRE(expected);
    std::array<int, 4> equal{};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < equal.size(); ++t) {
        threads.emplace_back([&, t] {
            for (int round = 0; round < 50; ++round) {
                const auto times = model->times(queries);
                bool same = static_cast<bool>(times);
                for (std::size_t i = 0; same && i < queries.size(); ++i)
                    same = (*times)[i].median_s == (*expected)[i].median_s;
                equal[t] += same ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int count : equal) CHECK(count == 50);
}

TEST_CASE("an answer does not depend on what else is asked", "[torch]") {
    const auto model = shipped_model();
    if (!model) return;
    const auto operators = known_operators();
    const Device device = t4();
    std::vector<OperatorQuery> all;
    for (const Operator& op : operators) all.push_back({&op, &device});
    const auto together = model->times(all);
    REQUIRE(together);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto alone = model->times({&all[i], 1});
        REQUIRE(alone);
        // Products of other batch sizes round differently, in the last digits of float.
        CHECK(alone->front().median_s == Approx((*together)[i].median_s).epsilon(1e-4));
    }
}

TEST_CASE("a missing module is unavailable, and says what to install", "[torch]") {
    const auto model = open_torch_model("/nonexistent/dlcast_torch.so", shipped_weights);
    REQUIRE_FALSE(model);
    CHECK(model.error().fault == Fault::unavailable);
    CHECK(model.error().message.find("LibTorch") != std::string::npos);
}

TEST_CASE("a library that is no module of ours is unavailable", "[torch]") {
    const auto model = open_torch_model("libm.so.6", shipped_weights);
    REQUIRE_FALSE(model);
    CHECK(model.error().fault == Fault::unavailable);
}

TEST_CASE("missing, truncated or exchanged weights are unavailable", "[torch]") {
    if (!shipped_model()) return;
    const SpoiledWeights weights;
    SECTION("no network") {
        std::filesystem::remove(weights.file("network.pt"));
        CHECK(weights.refusal().find("network.pt") != std::string::npos);
    }
    SECTION("no manifest") {
        std::filesystem::remove(weights.file("manifest.toml"));
        CHECK(weights.refusal().find("manifest.toml") != std::string::npos);
    }
    SECTION("half of the network") {
        std::filesystem::resize_file(weights.file("network.pt"),
                                     std::filesystem::file_size(weights.file("network.pt")) / 2);
        CHECK(weights.refusal().find("cut short") != std::string::npos);
    }
    SECTION("another schema") {
        weights.replace("manifest.toml", "schema = ", "schema = 9");
        CHECK(weights.refusal().find("schema 9") != std::string::npos);
    }
    SECTION("another number of columns") {
        weights.replace("manifest.toml", "columns = ", "columns = 9");
        CHECK(weights.refusal().find("columns") != std::string::npos);
    }
    SECTION("a broken manifest") {
        weights.replace("manifest.toml", "schema = ", "schema : ");
        CHECK(weights.refusal().find("manifest.toml:") != std::string::npos);
    }
}

TEST_CASE("a truncated network is refused by the module too, were the manifest to match it", "[torch]") {
    if (!shipped_model()) return;
    const SpoiledWeights weights;
    const auto whole = read_file(weights.file("network.pt"), 1 << 24);
    const auto old_manifest = read_file(weights.file("manifest.toml"), 1 << 20);
    REQUIRE(whole);
    REQUIRE(old_manifest);
    const auto manifest = parse_weights_manifest(*old_manifest, "manifest.toml");
    REQUIRE(manifest);
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}, whole->size() / 2, whole->size() - 1}) {
        const std::string part = whole->substr(0, size);
        REQUIRE(write_file_atomically(weights.file("network.pt"), part));
        WeightsManifest forged = *manifest;
        forged.id = weights_id(part);
        REQUIRE(write_file_atomically(weights.file("manifest.toml"), write_weights_manifest(forged)));
        CHECK(weights.refusal().find("install the weights again") != std::string::npos);
    }
}

TEST_CASE("a manifest reads back as it was written", "[weights]") {
    WeightsManifest m;
    m.id = "0123456789abcdef";
    m.seed = 7;
    m.members = 2;
    m.excluded = {"L4", "a \"quoted\" name"};
    m.sources = {{"here", "our own", "none", 12}};
    m.held_out = {{"here", "linear", 3, 1.25, 1.0, 50.5}};
    for (NetManifest& net : m.nets) net.columns = 5;
    m.nets[1].groups = {{"V100-PCIE-32GB", "NVIDIA Tesla V100 PCIe 32GB", true}};
    const auto back = parse_weights_manifest(write_weights_manifest(m), "manifest.toml");
    if (!back) FAIL(back.error().message);
    CHECK(back->id == m.id);
    CHECK(back->seed == 7);
    CHECK(back->members == 2);
    CHECK(back->excluded == m.excluded);
    REQUIRE(back->sources.size() == 1);
    CHECK(back->sources[0].rows == 12);
    REQUIRE(back->held_out.size() == 1);
    CHECK(back->held_out[0].mape_pct == 1.25);
    REQUIRE(back->nets[1].groups.size() == 1);
    CHECK(back->nets[1].groups[0].session);
    CHECK(back->nets[1].groups[0].gpu == "V100-PCIE-32GB");
}

TEST_CASE("the id of weights is FNV-1a", "[weights]") {
    CHECK(weights_id("") == "cbf29ce484222325");   // the offset basis
    CHECK(weights_id("a") == "af63dc4c8601ec8c");  // Fowler, Noll & Vo's test vector
}
