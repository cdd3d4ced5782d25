// SPDX-License-Identifier: GPL-2.0-or-later
// LibTorch on this machine's CPU.
#include <catch2/catch.hpp>
#include <numeric>

#include "profiler/open_device.h"
#include "profiler/profile_options.h"

using namespace dlcast;

namespace {

Backend& cpu() {
    static auto device = open_cpu();
    REQUIRE(device);
    return *device->backend;
}

// A configuration of that family whose sizes are small: every layer of it, a hundredth of the work.
std::string tiny(const std::string& family) { return PROFILER_TEST_MODELS "/tiny-" + family + ".json"; }

ProfiledModel model_of(const std::string& name, std::int64_t image_size, std::int64_t seq_len) {
    ModelOptions options{.models = {name}, .batch_size = 2, .optimizer = "sgd"};
    if (image_size > 0) options.image_size = image_size;
    if (seq_len > 0) options.seq_len = seq_len;
    auto models = read_models(options);
    if (!models) FAIL(models.error().message);
    return models->front();
}

}  // namespace

TEST_CASE("every operator of many kinds of models runs in each of its phases", "[profiler][torch]") {
    const auto [name, image, tokens] = GENERATE(table<std::string, int, int>({{"resnet18", 32, 0},
                                                                              {"mobilenet_v2", 32, 0},
                                                                              {"bert-tiny", 0, 16},
                                                                              {tiny("gpt2"), 0, 8},
                                                                              {tiny("t5"), 0, 8}}));
    const ProfiledModel model = model_of(name, image, tokens);
    for (const SamplePoint& point : points_of({model})) {
        const auto* op = std::get_if<Operator>(&point);
        if (op == nullptr) continue;
        INFO(describe(point));
        const auto work = cpu().prepare(*op);
        if (!work) FAIL(work.error().message);
        CHECK((*work)->run_s() > 0.0);
    }
}

// Gradients are as many as the model's parameters: torchvision's resnet18 has 11,689,512.
TEST_CASE("a whole model trains, and tells each gradient once as soon as it is whole", "[profiler][torch]") {
    const ProfiledModel model = model_of("resnet18", 32, 0);
    auto net = cpu().network(model.model, model.training);
    if (!net) FAIL(net.error().message);
    const auto sizes = (*net)->gradient_sizes();
    CHECK(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == 11'689'512);
    std::vector<std::vector<float>> gradients;
    std::vector<float*> places;
    for (const std::int64_t size : sizes) gradients.emplace_back(static_cast<std::size_t>(size), 0.0f);
    for (auto& gradient : gradients) places.push_back(gradient.data());
    (*net)->place_gradients(places);
    std::vector<int> ready(sizes.size(), 0);
    std::vector<double> at_ready(sizes.size(), 0.0);
    const auto sum = [&](std::size_t i) {
        double out = 0.0;
        for (const float g : gradients[i]) out += g * g;
        return out;
    };
    (*net)->on_ready([&](std::size_t i) {
        ++ready[i];
        at_ready[i] = sum(i);
    });
    (*net)->forward();
    (*net)->backward();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        INFO("gradient " << i << " of " << sizes[i] << " elements");
        CHECK(ready[i] == 1);
        CHECK(at_ready[i] == sum(i));  // nothing was added later
    }
    CHECK(sum(0) > 0.0);  // backward reached the first layer
    (*net)->update();
    (*net)->clear_gradients();
    CHECK(sum(0) == 0.0);
}

TEST_CASE("whole models of many kinds run forward and backward", "[profiler][torch]") {
    const auto [name, image, tokens] = GENERATE(table<std::string, int, int>({{"mobilenet_v2", 32, 0},
                                                                              {"densenet121", 32, 0},
                                                                              {tiny("vit"), 0, 0},
                                                                              {"bert-tiny", 0, 16},
                                                                              {tiny("gpt2"), 0, 8},
                                                                              {tiny("t5"), 0, 8}}));
    const ProfiledModel model = model_of(name, image, tokens);
    for (const Pass pass : {Pass::forward, Pass::step}) {
        MeasuredPass point;
        point.pass = pass;
        const auto work = cpu().prepare(model.model, model.training, point);
        if (!work) FAIL(work.error().message);
        CHECK((*work)->run_s() > 0.0);
    }
}

TEST_CASE("what the CPU does not compute is refused with what it does", "[profiler][torch]") {
    Operator op;
    op.kind = OperatorKind::linear;
    op.m = op.k = op.n = 4;
    op.precision = GENERATE(Precision::fp16, Precision::tf32, Precision::amp, Precision::fp8);
    const auto work = cpu().prepare(op);
    REQUIRE_FALSE(work);
    CHECK(work.error().message.find("measure fp32 or bf16") != std::string::npos);
}

TEST_CASE("bf16 products run on the CPU", "[profiler][torch]") {
    Operator op;
    op.kind = OperatorKind::linear;
    op.m = op.k = op.n = 16;
    op.precision = Precision::bf16;
    CHECK(cpu().prepare(op));
}
