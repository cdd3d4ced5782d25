// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/remedies.h"

#include <catch2/catch.hpp>

#include "cli/installation.h"
#include "cli/prediction_report.h"
#include "tests/cli/site_with_cpu.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

struct Answer {
    Prediction prediction;
    std::vector<Remedy> remedies;
};

Answer ask(const PredictOptions& options) {
    static const DeviceCatalog catalog = *shipped_catalog();
    static const auto model = make_analytic_model();
    static const SiteConfig config;
    static const StepWeights steps;
    const PredictSite site{&config, &catalog, nullptr, model.get(), &steps};
    const auto prediction = make_prediction(options, site);
    REQUIRE(prediction);
    return {*prediction, find_remedies(options, site, *prediction)};
}

PredictOptions options_for(const std::string& model, const std::string& gpu, std::int64_t batch, int gpus = 1) {
    PredictOptions options;
    options.model = model;
    options.gpu = gpu;
    options.gpus = gpus;
    options.overrides.batch_size = batch;
    options.overrides.steps = 100;
    return options;
}

bool any_has(const std::vector<Remedy>& remedies, const std::string& part) {
    for (const Remedy& remedy : remedies)
        if (remedy.options.find(part) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("what fits needs no remedy", "[remedies]") {
    CHECK(ask(options_for("resnet50", "A100-SXM4-80GB", 32)).remedies.empty());
}

// 13 billion parameters are 26 GB in bf16 alone, with gradients and Adam's states far more than a node's 59.6 GiB.
TEST_CASE("what helps on CPUs is nodes, since each is one device", "[remedies]") {
    const SiteWithCpu site(true);
    PredictOptions options = options_for("Llama-2-13b-hf", "", 1, 0);
    options.partition = "cpu";
    const auto prediction = make_prediction(options, site.view());
    REQUIRE(prediction);
    REQUIRE_FALSE(prediction->candidate.fits_memory);
    SiteWithCpu larger(true);
    larger.cluster.partitions.back().groups.front().nodes = 64;
    const auto remedies = find_remedies(options, larger.view(), *prediction);
    REQUIRE_FALSE(remedies.empty());
    CHECK(any_has(remedies, "--nodes "));
    CHECK_FALSE(any_has(remedies, "--gpus "));
}

TEST_CASE("a batch too large is split into micro-steps of the largest divisor that fits", "[remedies]") {
    const Answer answer = ask(options_for("resnet50", "V100-SXM2-16GB", 1024));
    REQUIRE_FALSE(answer.prediction.candidate.fits_memory);
    std::int64_t divisor = answer.prediction.largest_micro_batch;
    while (1024 % divisor != 0) --divisor;
    CHECK(any_has(answer.remedies,
                  "--batch-size " + std::to_string(divisor) + " --grad-accum " + std::to_string(1024 / divisor)));
    for (const Remedy& remedy : answer.remedies) CHECK(remedy.memory_bytes <= remedy.device_bytes);
}

// 16 bytes a parameter of 6.7 billion are 108 GB: no batch fits one A100; sharded over eight they are 13 GB. In fp32
// stage 1 leaves 4 + 4 + 8 / 8 bytes and copies of gradients in buckets, 88 GB; stage 2 leaves 4 + 12 / 8, 37 GB.
TEST_CASE("states beyond the card are sharded", "[remedies]") {
    const Answer answer = ask(options_for("llama-2-7b", "A100-SXM4-80GB", 1, 8));
    REQUIRE_FALSE(answer.prediction.candidate.fits_memory);
    CHECK(answer.prediction.largest_micro_batch == 0);
    CHECK(any_has(answer.remedies, "training.parallel.zero=3"));
    CHECK(any_has(answer.remedies, "training.parallel.zero=2"));
    CHECK_FALSE(any_has(answer.remedies, "training.parallel.zero=1"));
    CHECK_THAT(to_text(answer.prediction, false, answer.remedies),
               Contains("not even one sample") && Contains("would fit"));
}

TEST_CASE("more GPUs are the last remedy, and in the JSON", "[remedies]") {
    const Answer answer = ask(options_for("llama-2-7b", "A100-SXM4-80GB", 1, 1));
    REQUIRE(answer.remedies.size() == 1);
    CHECK_THAT(answer.remedies[0].options, Contains("--gpus ") && Contains("zero=3"));
    const Value value = to_value(answer.prediction, false, answer.remedies);
    CHECK_FALSE(value.find("fits")->as_bool());
    const Value& remedy = value.find("remedies")->as_array().at(0);
    CHECK(remedy.find("gpus")->as_integer() == answer.remedies[0].gpus);
    CHECK(remedy.find("p50_s")->as_number() > 0);
}
