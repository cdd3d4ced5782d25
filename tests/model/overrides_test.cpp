// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/overrides.h"
#include "model_test_support.h"

using namespace dlcast;

namespace {

Result<Workload> with_set(const std::string& json, std::vector<std::string> set) {
    WorkloadOverrides overrides;
    overrides.set = std::move(set);
    return workload_of(json, overrides);
}

const char* const vgg16 = R"({"model": "vgg16", "dataset": "imagenet-1k", "training": {"epochs": 90}})";

}  // namespace

TEST_CASE("a dotted key sets any key of the declaration", "[model]") {
    const auto w = with_set(vgg16, {"training.grad_accum=4", "dataset.classes=10"});
    REQUIRE(w);
    CHECK(w->training.grad_accum == 4);
    CHECK(w->dataset.classes == 10);
    CHECK(w->dataset.samples == 1'281'167);  // that of the name stays
}

TEST_CASE("a layout knows where it was said: its line of the file, or the options", "[model]") {
    const std::string tp2 = "{\"model\": \"vgg16\",\n \"training\": {\"parallel\": {\"tp\": 2}}}";
    CHECK_THAT(workload_of(tp2)->training.parallel.place, Catch::EndsWith(":2:27: parallel"));
    WorkloadOverrides o;
    o.set = {"training.parallel.tp=3", "training.parallel.dp=2"};
    o.from_train = 1;
    CHECK(workload_of(tp2, o)->training.parallel.place ==
          "--train parallel.tp=3 --set training.parallel.dp=2: parallel");
}

TEST_CASE("an unknown first key is refused as in a file", "[model]") {
    CHECK_THAT(with_set(vgg16, {"traning.epochs=3"}).error().message,
               Catch::Contains("--set traning.epochs=3") && Catch::Contains("did you mean \"training\"?"));
    CHECK_THAT(with_set(vgg16, {"epochs=3"}).error().message, Catch::Contains("training.epochs="));
    CHECK_FALSE(with_set(vgg16, {"foo=1"}));
    CHECK_FALSE(with_set(vgg16, {"foo.bar=1"}));
}

TEST_CASE("a duration on the command line replaces the file's", "[model]") {
    const auto w = with_set(vgg16, {"training.tokens=3"});
    REQUIRE(w);
    CHECK_FALSE(w->training.epochs);
    CHECK(w->training.tokens == 3.0);
    WorkloadOverrides both;
    both.steps = 10;
    both.set = {"training.epochs=3"};
    CHECK_THAT(workload_of(vgg16, both).error().message, Catch::Contains("--steps and --set training.epochs=3"));
}

TEST_CASE("the command line's optimizer and micro-steps win over the file's", "[model]") {
    WorkloadOverrides overrides;
    overrides.optimizer = "lamb";
    overrides.grad_accum = 8;
    const auto w = workload_of(vgg16, overrides);
    REQUIRE(w);
    CHECK(w->training.optimizer == Optimizer::lamb);
    CHECK(w->training.grad_accum == 8);
}

TEST_CASE("a mistake is blamed on the training option where the file alone has none", "[model]") {
    const auto blamed = [](const std::string& json) {
        const auto plain = parse_payload(json);
        const auto changed = with_training(*plain, "foo=1", "--dl-train");
        return blame_training(*plain, "foo=1", "--dl-train", to_workload(*changed).error()).message;
    };
    CHECK_THAT(blamed(R"({"model": "vgg16"})"), Catch::StartsWith("--dl-train foo=1: ") && Catch::Contains("\"foo\""));
    CHECK_THAT(blamed(R"({"model": "vgg16", "training": {"bar": 1}})"),
               !Catch::Contains("--dl-train") && Catch::Contains("\"bar\""));
}

TEST_CASE("a training on the command line says each key once, with a value", "[model]") {
    const auto error = [](const std::string& text) {
        const auto declared = parse_payload(R"({"model": "vgg16"})");
        const auto changed = with_training(*declared, text, "--dl-train");
        if (!changed) return changed.error().message;
        const auto workload = to_workload(*changed);
        return workload ? std::string("none") : workload.error().message;
    };
    CHECK(error("epochs=1,epochs=2") == "--dl-train: key \"epochs\" stands twice; keep one of them");
    CHECK_THAT(error("dataset=coco,dataset=squad"), Catch::Contains("\"dataset\" stands twice"));
    CHECK_THAT(error("parallel.zero=1,parallel.zero=2"), Catch::Contains("\"parallel.zero\" stands twice"));
    CHECK_THAT(error("epochs="), Catch::Contains("epochs has no value"));
    CHECK_THAT(error("dataset= "), Catch::Contains("dataset has no value"));
    for (const char* text : {"epochs=1,", ",epochs=1", "epochs=1,,batch_size=8", ","}) {
        CAPTURE(text);
        CHECK_THAT(error(text), Catch::Contains("nothing between two commas"));
    }
    for (const char* text : {"=3", "epochs", "epochs=3,batch_size"}) {
        CAPTURE(text);
        CHECK_THAT(error(text), Catch::Contains("expected key=value"));
    }
    CHECK(error(" ") == "--dl-train is empty; write key=value, as in epochs=90,batch_size=256, or leave it out");
    CHECK_THAT(error("training.epochs=3"), Catch::Contains("without \"training.\""));
    CHECK_THAT(error("epoch=3"), Catch::Contains("did you mean \"epochs\"?"));
    CHECK_THAT(error("EPOCHS=3"), Catch::Contains("did you mean \"epochs\"?"));
    CHECK_THAT(error("dataset.sample=3"), Catch::Contains("did you mean \"samples\"?"));
    CHECK_THAT(error("dataset=imagenet-1kk"), Catch::Contains("did you mean \"imagenet-1k\"?"));
    CHECK_THAT(error("epochs=1e400"), Catch::Contains("epochs is \"1e400\"; it should be a number"));
    CHECK_THAT(error("epochs=nan"), Catch::Contains("epochs is \"nan\""));
    // No place: the text of the option is no file.
    CHECK(error("batch_size=-1") == "model description: training: batch_size is -1; it should be from 1 to 1000000000");
    CHECK_THAT(error("epochs=3,steps=4"), Catch::Contains("at most one of epochs, steps and tokens"));
}

TEST_CASE("a data set's name takes nothing away from what is said of it", "[model]") {
    for (const char* text : {"dataset=cifar10,dataset.samples=5", "dataset.samples=5,dataset=cifar10"}) {
        CAPTURE(text);
        const auto declared = with_training(*parse_payload(R"({"model": "vgg16"})"), text, "--dl-train");
        REQUIRE(declared);
        const auto w = to_workload(*declared);
        REQUIRE(w);
        CHECK(w->dataset.samples == 5);
        CHECK(w->dataset.classes == 10);
    }
}

TEST_CASE("a training on the command line may have spaces around its words", "[model]") {
    const auto declared =
        with_training(*parse_payload(R"({"model": "gpt2"})"),
                      "epochs = 3, trainable = lora:r=4, targets=qkv+out, dataset = alpaca", "--dl-train");
    REQUIRE(declared);
    const auto w = to_workload(*declared);
    REQUIRE(w);
    CHECK(w->training.epochs == 3.0);
    CHECK(w->dataset.name == "alpaca");
    CHECK(w->model.trainable_parameters < w->model.parameters / 100);
}

TEST_CASE("an option and an assignment of the same member are refused", "[model]") {
    const auto error = [](WorkloadOverrides o) {
        const auto workload = to_workload(*parse_payload(R"({"model": "vgg16", "training": {"epochs": 1}})"), o);
        return workload ? std::string("none") : workload.error().message;
    };
    WorkloadOverrides o;
    o.steps = 10;
    o.set = {"training.batch_size=8", "training.steps=20"};
    CHECK(error(o) == "--steps and --set training.steps=20 both say it; keep one of them");
    o.from_train = 2;
    o.set[1] = "training.epochs=2";
    CHECK(error(o) == "--steps and --train epochs=2 both say it; keep one of them");
    o.set[1] = "training.grad_accum=2";
    CHECK(error(o) == "none");
    WorkloadOverrides data;
    data.dataset = "cifar10";
    data.set = {"dataset=imagenet-1k"};
    CHECK(error(data) == "--dataset and --set dataset=imagenet-1k both say it; keep one of them");
    o.grad_accum = 4;
    CHECK(error(o) == "--grad-accum and --train grad_accum=2 both say it; keep one of them");
}

TEST_CASE("micro-steps on the command line replace a micro-batch, and the other way round", "[model]") {
    const auto training = [](const std::string& json, WorkloadOverrides o) {
        const auto workload = to_workload(*parse_payload(json), o);
        REQUIRE(workload);
        return workload->training;
    };
    WorkloadOverrides steps;
    steps.grad_accum = 4;
    const std::string batch = R"({"model": "vgg16", "training": {"batch_size": 64, "batch_per": "global", )";
    CHECK(training(batch + R"("micro_batch": 8}})", {}).micro_batch == 8);
    CHECK(training(batch + R"("micro_batch": 8}})", steps).micro_batch == 0);
    CHECK(training(batch + R"("micro_batch": 8}})", steps).grad_accum == 4);
    WorkloadOverrides micro;
    micro.set = {"training.micro_batch=16"};
    CHECK(training(batch + R"("grad_accum": 8}})", micro).micro_batch == 16);
}
