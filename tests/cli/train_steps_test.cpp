// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/train_steps.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "cli/installation.h"
#include "cli/validate_steps.h"
#include "predictor/base/text.h"
#include "tests/scratch_folder.h"

using namespace dlcast;

namespace {

const std::string header =
    "row_id,group,source,model,family,gpu,gpus,nodes,intra,precision,batch_per_gpu,grad_accum,image_size,mode,"
    "optimizer,parallel,framework,layout,quality,step_ms\n";

std::string row(const std::string& id, const std::string& model, const std::string& gpu, const std::string& quality,
                const std::string& measured) {
    return id + "," + id + ",here," + model + "," + model + "," + gpu +
           ",1,1,none,fp32,32,1,224,train,sgd,none,pytorch,nchw," + quality + "," + measured + "\n";
}

std::string some_rows() {
    return header + row("r1", "resnet18", "V100-SXM2-16GB", "A", "60") + row("r2", "resnet50", "T4", "B", "900") +
           row("r3", "vgg16", "T4", "A", "1200") + row("r4", "vgg16", "V100-SXM2-16GB", "C", "1") +
           row("r5", "resnet50", "V100-SXM2-16GB", "A", "");
}

}  // namespace

TEST_CASE("doubtful and unmeasured rows teach nothing", "[train_steps]") {
    const ScratchFolder folder;
    const auto read = read_training_steps({folder.write("steps.csv", some_rows())}, *shipped_catalog(), {});
    REQUIRE(read);
    REQUIRE(read->steps.size() == 3);
    CHECK(read->steps[1].measured.weight == 0.6 * read->steps[0].measured.weight);  // quality B; one case a family
    CHECK(read->steps[0].facts.facts.at("super-family") == "CNN");
}

TEST_CASE("training writes constants, the same for the same rows, without what is excluded", "[train_steps]") {
    const ScratchFolder folder;
    TrainStepsOptions options;
    options.files = {folder.write("steps.csv", some_rows())};
    options.exclusions.gpus = {"V100-SXM2-16GB"};
    options.validate = false;
    options.out = folder.path("weights");
    const auto weights = train_steps(options, *shipped_catalog());
    REQUIRE(weights);
    CHECK(weights->gpus == std::vector<std::string>{"T4"});
    CHECK(weights->coefficients != prior_coefficients());
    const auto first = read_file(options.out + "/steps.toml", 1 << 20);
    REQUIRE(first);
    REQUIRE(train_steps(options, *shipped_catalog()));
    CHECK(*read_file(options.out + "/steps.toml", 1 << 20) == *first);
    options.exclusions.families = {"resnet50", "vgg16"};
    CHECK_FALSE(train_steps(options, *shipped_catalog()));  // nothing is left
}

TEST_CASE("a fold never sees what it leaves out, and a stopped run goes on", "[train_steps]") {
    const ScratchFolder folder;
    const auto read = read_training_steps({folder.write("steps.csv", some_rows())}, *shipped_catalog(), {});
    REQUIRE(read);
    const std::string state = folder.path("pred.csv.folds");
    const auto folds = validate_steps(read->steps, "gpu", state);
    REQUIRE(folds);
    REQUIRE(folds->size() == 2);
    const StepFit without_t4 =
        fit_where(read->steps, [](const TrainingStep& s) { return s.facts.facts.at("gpu") != "T4"; });
    CHECK(folds->at("T4").step_s[1] == step_times(read->steps[1].measured.work, without_t4.coefficients).step_s);
    // The state keeps nine digits.
    const auto again = validate_steps(read->steps, "gpu", state);
    REQUIRE(again);
    CHECK_THAT(again->at("T4").step_s[1], Catch::WithinRel(folds->at("T4").step_s[1], 1e-8));
    CHECK(again->at("T4").step_s != folds->at("T4").step_s);
}

TEST_CASE("a constant that no row met is known no better than before", "[train_steps]") {
    const ScratchFolder folder;
    const auto read = read_training_steps({folder.write("steps.csv", some_rows())}, *shipped_catalog(), {});
    REQUIRE(read);
    const StepFit all = fit_where(read->steps, [](const TrainingStep&) { return true; });
    const StepFit without_t4 =
        fit_where(read->steps, [](const TrainingStep& s) { return s.facts.facts.at("gpu") != "T4"; });
    const auto turing = static_cast<std::size_t>(StepConstant::simt_turing);
    const auto hopper = static_cast<std::size_t>(StepConstant::simt_hopper);
    CHECK(all.deviations[turing] < 0.95 * prior_deviations()[turing]);
    CHECK_THAT(without_t4.deviations[turing], Catch::WithinRel(prior_deviations()[turing], 1e-9));
    CHECK_THAT(all.deviations[hopper], Catch::WithinRel(prior_deviations()[hopper], 1e-9));
}

// The spread of what was left out: what its fit leaves open, a T4's clocks, and the others' scatter.
TEST_CASE("a forecast's spread is known and unknown doubts together", "[train_steps]") {
    const ScratchFolder folder;
    const auto read = read_training_steps({folder.write("steps.csv", some_rows())}, *shipped_catalog(), {});
    REQUIRE(read);
    const auto folds = validate_steps(read->steps, "gpu", "");
    REQUIRE(folds);
    const std::vector<StepError> errors = errors_left_out(read->steps, *folds, "gpu");
    CHECK(errors[1].known_log_sd > folds->at("T4").constants_log_sd[1]);
    CHECK_THAT(errors[0].known_log_sd,
               Catch::WithinRel(folds->at("V100-SXM2-16GB").constants_log_sd[0], 1e-12));  // fed by 300 W
    CHECK_THAT(errors[0].log_sd,
               Catch::WithinRel(std::hypot(errors[0].known_log_sd, log_sd_of({errors[1], errors[2]})), 1e-12));
}

// r1 and r6 are one network in one framework; r6's own fold forecasts r1, whose ratio to its measurement corrects r6.
TEST_CASE("one step measured on another GPU corrects what was left out", "[train_steps]") {
    const ScratchFolder folder;
    const std::string rows = some_rows() + row("r6", "resnet18", "T4", "A", "200");
    const auto read = read_training_steps({folder.write("steps.csv", rows)}, *shipped_catalog(), {});
    REQUIRE(read);
    const auto folds = validate_steps(read->steps, "gpu", "");
    REQUIRE(folds);
    const auto corrected = with_one_measured(read->steps, *folds, "gpu", 3);
    REQUIRE(corrected);
    const double log_ratio = std::log(0.060 / folds->at("T4").step_s[0]);
    CHECK_THAT(std::log(corrected->factor), Catch::WithinRel(0.2 * log_ratio, 1e-6));  // generations differ
    CHECK_FALSE(with_one_measured(read->steps, *folds, "gpu", 1));  // resnet50 was measured on one GPU
}

TEST_CASE("kinds of models are told by their family's name", "[train_steps]") {
    CHECK(super_family_of("bert-large-uncased") == "BERT");
    CHECK(super_family_of("mt-nlg-530b") == "GPT");
    CHECK(super_family_of("Llama-3.1-8B") == "Llama");
    CHECK(super_family_of("transformer_xl_base_wt103") == super_family_of("transformer_wmt_big"));
    CHECK(super_family_of("unheard-of") == "unheard-of");
}
