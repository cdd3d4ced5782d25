// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/train_steps.h"

#include <catch2/catch.hpp>

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
    const auto forecast = validate_steps(read->steps, "gpu", state);
    REQUIRE(forecast);
    const StepFit without_t4 =
        fit_where(read->steps, [](const TrainingStep& s) { return s.facts.facts.at("gpu") != "T4"; });
    CHECK((*forecast)[1] == step_times(read->steps[1].measured.work, without_t4.coefficients).step_s);
    // The state keeps nine digits.
    const auto again = validate_steps(read->steps, "gpu", state);
    REQUIRE(again);
    CHECK_THAT((*again)[1], Catch::WithinRel((*forecast)[1], 1e-8));
    CHECK(*again != *forecast);
}

TEST_CASE("kinds of models are told by their family's name", "[train_steps]") {
    CHECK(super_family_of("bert-large-uncased") == "BERT");
    CHECK(super_family_of("mt-nlg-530b") == "GPT");
    CHECK(super_family_of("Llama-3.1-8B") == "Llama");
    CHECK(super_family_of("transformer_xl_base_wt103") == super_family_of("transformer_wmt_big"));
    CHECK(super_family_of("unheard-of") == "unheard-of");
}
