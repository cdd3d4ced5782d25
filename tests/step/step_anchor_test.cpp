// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_anchor.h"

#include <cmath>

#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

struct Site {
    DeviceCatalog catalog;
    std::unique_ptr<LayerTimeModel> model = make_analytic_model();
    Site() {
        for (const char* name : {"round", "other"}) {
            Device device = test::round_device();
            device.name = name;
            device.memory_bandwidth_Bps *= device.name == "other" ? 2 : 1;
            catalog.add(device, {});
        }
    }
    Result<StepEstimate> on(const Workload& workload, const std::string& gpu) const {
        Allocation allocation;
        allocation.device = *catalog.find(gpu);
        const std::vector<StepQuery> queries{{&workload, allocation}};
        auto steps = estimate_steps(queries, *model);
        if (!steps) return steps.error();
        if (auto status = anchor_steps(queries, catalog, {}, *steps); !status) return status.error();
        return steps->front();
    }
};

}  // namespace

// Both are of one generation: exp(0.9 log 1.5) = 1.4404, and sqrt(1 - 0.9^2) of the spread remains.
TEST_CASE("a step measured on another GPU corrects the forecast by most of its ratio", "[step_anchor]") {
    const Site site;
    Workload workload = test::linear_net(4, 2048, 512);
    const auto plain = site.on(workload, "round"), there = site.on(workload, "other");
    REQUIRE(plain);
    workload.training.measured = {{"other", 1, 0, 1.5e3 * there->step_s}};
    const auto anchored = site.on(workload, "round");
    REQUIRE(anchored);
    CHECK_THAT(anchored->step_s / plain->step_s, WithinRel(1.4404, 1e-3));
    CHECK_THAT(anchored->layers[0].forward_s / plain->layers[0].forward_s, WithinRel(1.4404, 1e-3));
    CHECK_THAT(anchored->log_sd / plain->log_sd, WithinRel(std::sqrt(0.19), 1e-6));
}

// 0.95 of the ratio, and sqrt(1 - 0.95^2) = 0.31 of the spread.
TEST_CASE("a step measured on the same GPU says nearly all", "[step_anchor]") {
    const Site site;
    Workload workload = test::linear_net(4, 2048, 512);
    const auto plain = site.on(workload, "round");
    REQUIRE(plain);
    workload.training.measured = {{"round", 1, 0, 2e3 * plain->step_s}};
    const auto anchored = site.on(workload, "round");
    REQUIRE(anchored);
    CHECK_THAT(anchored->step_s / plain->step_s, WithinRel(std::pow(2.0, 0.95), 1e-6));
    CHECK_THAT(anchored->log_sd / plain->log_sd, WithinRel(std::sqrt(1 - 0.95 * 0.95), 1e-6));
}

TEST_CASE("a second measured step narrows the forecast further", "[step_anchor]") {
    const Site site;
    Workload workload = test::linear_net(4, 2048, 512);
    Workload larger = workload;
    larger.training.batch_size = 1024;
    const double there_s = site.on(workload, "other")->step_s, larger_s = site.on(larger, "other")->step_s;
    workload.training.measured = {{"other", 1, 0, 1e3 * there_s}};
    const auto one = site.on(workload, "round");
    workload.training.measured.push_back({"other", 1, 1024, 1e3 * larger_s});
    const auto two = site.on(workload, "round");
    REQUIRE(one);
    REQUIRE(two);
    CHECK_THAT(two->step_s, WithinRel(one->step_s, 1e-9));  // both ratios are 1
    CHECK(two->log_sd < one->log_sd);
}

TEST_CASE("a measured step has a batch of its own", "[step_anchor]") {
    const Site site;
    Workload workload = test::linear_net(4, 2048, 512);
    const double plain_s = site.on(workload, "round")->step_s;
    Workload larger = workload;
    larger.training.batch_size = 4096;
    workload.training.measured = {{"other", 1, 4096, 1e3 * site.on(larger, "other")->step_s}};
    CHECK_THAT(site.on(workload, "round")->step_s, WithinRel(plain_s, 1e-9));
}

TEST_CASE("a measured step has data ranks of its own, and the job's other degrees", "[step_anchor]") {
    const Site site;
    Workload workload = test::linear_net(4, 2048, 512);
    const double plain_s = site.on(workload, "round")->step_s;
    workload.training.parallel.dp = 1;
    workload.training.measured = {{"other", 2, 0, 1e3 * plain_s}};
    CHECK(site.on(workload, "round"));
    workload.training.parallel = {.dp = 1, .tp = 3};
    workload.training.measured[0].place = "job.json:3:5: measured";
    Allocation three;
    three.device = *site.catalog.find("round");
    three.gpus_per_node = 3;
    const std::vector<StepQuery> queries{{&workload, three}};
    std::vector<StepEstimate> steps(1);
    const auto status = anchor_steps(queries, site.catalog, {}, steps);
    REQUIRE_FALSE(status);
    CHECK(status.error().message ==
          "job.json:3:5: measured: a step of 2 GPUs, where tp 3 x pp 1 x cp 1 take 3 or a multiple; state as \"gpus\" "
          "the count it was measured on, or leave this step out");
}

TEST_CASE("a step measured on an unknown GPU is an error that names it", "[step_anchor]") {
    const Site site;
    Workload workload = test::linear_net(1, 64, 1);
    workload.training.measured = {{"rounds", 1, 0, 1.0}};
    const auto step = site.on(workload, "round");
    REQUIRE_FALSE(step);
    CHECK_THAT(step.error().message, Contains("rounds") && Contains("round"));
}

TEST_CASE("a step measured faster than its arithmetic can be is refused where it stands", "[step_anchor]") {
    const Site site;
    Workload workload = test::linear_net(4, 2048, 512);
    const double plain_ms = 1e3 * site.on(workload, "round")->step_s;
    workload.training.measured = {{"round", 1, 0, plain_ms / 1000}};
    workload.training.measured[0].place = "job.json:3:5: measured";
    const auto step = site.on(workload, "round");
    REQUIRE_FALSE(step);
    CHECK_THAT(step.error().message, Catch::Matchers::StartsWith("job.json:3:5: measured: ") &&
                                         Contains("arithmetic alone") && Contains("leave this step out"));
}
