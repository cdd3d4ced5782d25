// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/scaling_report.h"

#include <catch2/catch.hpp>

#include "cli/installation.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

const char* const cluster_text = R"(
[cluster]
name = "test"
[[partition]]
name = "v100"
max_time_min = 100000
tres_billing_weights = "GRES/gpu=3.0"
[[partition.nodes]]
gpu = "V100-SXM2-32GB"
gpus_per_node = 4
nodes = 3
[[partition]]
name = "t4"
[[partition.nodes]]
gpu = "t4"
gpus_per_node = 2
nodes = 1
[[partition]]
name = "old"
up = false
[[partition.nodes]]
gpu = "K80"
gpus_per_node = 2
nodes = 1
)";

Result<std::unique_ptr<Scaling>> scale(const ScaleOptions& options, bool with_cluster = true) {
    static const DeviceCatalog catalog = *shipped_catalog();
    static const Cluster cluster = *parse_cluster(cluster_text, "cluster.toml");
    static const auto model = make_analytic_model();
    static const SiteConfig config;
    static const StepWeights steps;
    return make_scaling(options, {&config, &catalog, with_cluster ? &cluster : nullptr, model.get(), &steps});
}

ScaleOptions resnet(std::int64_t batch = 64) {
    ScaleOptions options;
    options.predict.model = "resnet50";
    options.predict.overrides.batch_size = batch;
    options.predict.overrides.epochs = 90;
    options.predict.overrides.dataset = "imagenet-1k";
    return options;
}

std::vector<int> counts(const ScaleCurve& curve) {
    std::vector<int> out;
    for (const ScalePoint& point : curve.points) out.push_back(point.gpus());
    return out;
}

}  // namespace

TEST_CASE("a partition is scaled over doubled counts up to all it has", "[scale]") {
    const auto scaling = scale(resnet());
    REQUIRE(scaling);
    REQUIRE((*scaling)->curves.size() == 2);  // the third is down
    CHECK(counts((*scaling)->curves[0]) == std::vector<int>{1, 2, 4, 8, 12});
    CHECK(counts((*scaling)->curves[1]) == std::vector<int>{1, 2});
}

TEST_CASE("a GPU named twice is one curve, and one epoch is one", "[scale]") {
    ScaleOptions options = resnet();
    options.gpus = {"T4", "t4"};
    options.max_gpus = 4;
    options.predict.overrides.epochs = 1;
    const auto scaling = scale(options, false);
    REQUIRE(scaling);
    REQUIRE((*scaling)->curves.size() == 1);
    CHECK(counts((*scaling)->curves[0]) == std::vector<int>{1, 2, 4});
    CHECK_THAT(to_text(**scaling), Contains(", 1 epoch, "));
}

TEST_CASE("a batch a GPU is kept unless the batch is global, and the user is told which", "[scale]") {
    const auto weak = scale(resnet());
    REQUIRE(weak);
    CHECK((*weak)->curves[0].points[3].candidate.step.samples_per_step == 8 * 64.0);
    CHECK_THAT(to_text(**weak), Contains("batch of 64 a GPU is kept") && Contains("weak scaling"));
    ScaleOptions options = resnet(240);
    options.predict.overrides.set = {"training.batch_per=global"};
    const auto strong = scale(options);
    REQUIRE(strong);
    for (const ScalePoint& point : (*strong)->curves[0].points) CHECK(point.candidate.step.samples_per_step == 240.0);
    CHECK_THAT(to_text(**strong), Contains("global batch of 240 is kept") && Contains("strong scaling"));
}

TEST_CASE("a count that the global batch does not divide over is left out with the reason", "[scale]") {
    ScaleOptions options = resnet(64);
    options.predict.overrides.set = {"training.batch_per=global"};
    const auto scaling = scale(options);
    REQUIRE(scaling);
    CHECK(counts((*scaling)->curves[0]) == std::vector<int>{1, 2, 4, 8});  // 64 / 12 is none
    CHECK_THAT(to_text(**scaling), Contains("left out") && Contains("12 GPUs") && Contains("60 or 72"));
}

TEST_CASE("figures follow from time and GPU count", "[scale]") {
    const auto scaling = scale(resnet());
    REQUIRE(scaling);
    const ScaleCurve& curve = (*scaling)->curves[0];
    const ScalePoint &one = curve.points[0], &eight = curve.points[3];
    CHECK(one.efficiency == 1.0);
    CHECK_THAT(eight.efficiency, WithinRel(eight.samples_per_s / one.samples_per_s / 8, 1e-12));
    CHECK_THAT(eight.gpu_hours, WithinRel(8 * eight.time_s / 3600, 1e-12));
    CHECK_THAT(eight.cost, WithinRel(3 * eight.gpu_hours, 1e-12));  // GRES/gpu=3.0
    CHECK(eight.time_s == eight.candidate.job->p50_s);
    REQUIRE((*scaling)->fastest);
    REQUIRE((*scaling)->cheapest);
    for (const ScaleCurve& c : (*scaling)->curves)
        for (const ScalePoint& point : c.points) {
            if (!point.fits()) continue;
            CHECK(point.time_s >= (*scaling)->fastest->time_s);
            CHECK(point.cost >= (*scaling)->cheapest->cost);
        }
}

// Over 1 Gb/s vgg16's 553 MB of gradients take seconds, a step on one node tenths of one: the knee is the node.
TEST_CASE("the knee is where more GPUs stop paying", "[scale]") {
    ScaleOptions options = resnet(16);
    options.predict.model = "vgg16";
    options.gpus = {"V100-SXM2-32GB"};
    options.max_gpus = 32;
    static const DeviceCatalog catalog = *shipped_catalog();
    const auto model = make_analytic_model();
    SiteConfig config;
    config.inter_node_bandwidth_Bps = 0.125e9;
    const StepWeights steps;
    const auto scaling = make_scaling(options, {&config, &catalog, nullptr, model.get(), &steps});
    REQUIRE(scaling);
    const ScaleCurve& curve = (*scaling)->curves[0];
    REQUIRE(curve.knee);
    CHECK(curve.points[*curve.knee].gpus() == 8);
    CHECK_THAT(to_text(**scaling), Contains("<- knee"));
    CHECK_THAT(to_svg(**scaling), Contains("r=\"8\""));
}

// 1000 steps of 64 on one GPU see 64,000 samples; 8 GPUs see as many in 125 steps.
TEST_CASE("declared steps count as the samples they see on the fewest GPUs", "[scale]") {
    ScaleOptions options = resnet();
    options.predict.overrides.epochs.reset();
    options.predict.overrides.steps = 1000;
    const auto scaling = scale(options);
    REQUIRE(scaling);
    CHECK((*scaling)->curves[0].points[0].candidate.job->steps == 1000);
    CHECK((*scaling)->curves[0].points[3].candidate.job->steps == 125);
    CHECK_THAT(to_text(**scaling),
               Contains("\n1000 steps on 1 GPU; the samples are kept: 83 steps on 12\n"));  // 1000 / 12
    const Value value = to_value(**scaling);
    CHECK(value.find("curves")->as_array()[0].find("points")->as_array()[3].find("steps")->as_integer() == 125);
    options.predict.overrides.set = {"training.batch_per=global"};
    const auto strong = scale(options);
    REQUIRE(strong);
    CHECK_THAT(to_text(**strong), !Contains("the samples are kept"));
}

TEST_CASE("tensor ranks make counts multiples of a replica", "[scale]") {
    ScaleOptions options = resnet();
    options.predict.model = "gpt2";
    options.predict.overrides = {};
    options.predict.overrides.set = {"training.parallel.tp=2"};
    options.gpus = {"A100-SXM4-80GB"};
    options.max_gpus = 16;
    const auto scaling = scale(options, false);
    REQUIRE(scaling);
    CHECK(counts((*scaling)->curves[0]) == std::vector<int>{2, 4, 8, 16});
    const std::string text = to_text(**scaling);
    CHECK_THAT(text, Contains("million samples"));  // no duration
    options.max_gpus = 1;
    CHECK_FALSE(scale(options, false));
}

TEST_CASE("neither a cluster file nor a GPU is an error with both remedies", "[scale]") {
    const auto scaling = scale(resnet(), false);
    REQUIRE_FALSE(scaling);
    CHECK_THAT(scaling.error().message, Contains("dlcast sync") && Contains("--gpu"));
    ScaleOptions options = resnet();
    options.predict.partition = "v1000";
    CHECK_THAT(scale(options).error().message, Contains("v1000"));
}

TEST_CASE("scaling as JSON names curves, points and choices", "[scale]") {
    const auto scaling = scale(resnet());
    REQUIRE(scaling);
    const Value value = to_value(**scaling);
    CHECK(value.find("batch_kept")->as_string() == "per_gpu");
    REQUIRE(value.find("curves")->as_array().size() == 2);
    const Value& point = value.find("curves")->as_array()[0].find("points")->as_array()[1];
    CHECK(point.find("gpus")->as_integer() == 2);
    for (const char* key : {"step_ms", "efficiency", "time_s", "p95_s", "gpu_hours", "memory_bytes", "fits"})
        CHECK(point.find(key));
    CHECK(value.find("fastest")->find("gpus")->as_integer() == 12);
}
