// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/dataset.h"
#include "model_test_support.h"

using namespace dlcast;

// The papers and pages of the data sets: Russakovsky et al. 2015, Ridnik et al. 2021, Krizhevsky 2009, COCO 2017
// (118,287 training images, of which 117,266 carry a box), LibriSpeech's 281,241 utterances of 960 h, GLUE's tables.
TEST_CASE("data sets of a public name have their public sizes", "[model][dataset]") {
    const auto [name, samples, classes] = GENERATE(table<std::string, std::int64_t, std::int64_t>({
        {"imagenet-1k", 1'281'167, 1000},
        {"ILSVRC2012", 1'281'167, 1000},
        {"imagenet-21k", 14'197'122, 21'841},
        {"cifar10", 50'000, 10},
        {"CIFAR-100", 50'000, 100},
        {"coco", 117'266, 80},
        {"librispeech", 281'241, 0},
        {"glue-mnli", 392'702, 3},
        {"databricks/databricks-dolly-15k", 15'011, 0},
    }));
    CAPTURE(name);
    const auto known = find_dataset(name);
    REQUIRE(known);
    CHECK(known->samples == samples);
    CHECK(known->classes == classes);
}

// 117.9 M tokens of WikiText-103 in sequences of 1,024: 115,136 samples. C4 has 156 G tokens (Raffel et al. 2020).
TEST_CASE("a corpus has as many samples as its tokens fill sequences", "[model][dataset]") {
    CHECK(good_workload(R"({"model": "gpt2", "dataset": "wikitext-103"})").dataset.samples == 117'900'000 / 1024);
    CHECK(good_workload(R"({"model": "gpt2", "dataset": "c4", "training": {"seq_len": 512}})").dataset.samples ==
          156'000'000'000 / 512);
    CHECK(find_dataset("openwebtext")->tokens > 0.0);
}

TEST_CASE("what a file declares wins over what is known of the name", "[model][dataset]") {
    const auto w = good_workload(R"({"model": "resnet50", "dataset": {"name": "cifar10", "samples": 7}})");
    CHECK(w.dataset.samples == 7);
    CHECK(w.dataset.classes == 10);
}
