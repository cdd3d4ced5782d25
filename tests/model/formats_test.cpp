// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "model_test_support.h"
#include "predictor/base/text.h"

using namespace dlcast;

namespace {

const std::string inputs = DLCAST_SOURCE_DIR "/../shared/inputs/";
const std::string steps = DLCAST_SOURCE_DIR "/../shared/data/steps/models/";

bool absent(const std::string& folder) {
    if (std::filesystem::exists(folder)) return false;
    std::cout << "SKIPPED: no " << folder << "\n";
    return true;
}

Workload from_file(const std::string& path) {
    INFO(path);
    const auto declaration = read_model_argument(path);
    if (!declaration) FAIL(declaration.error().message);
    const auto payload = to_payload(*declaration);
    REQUIRE(payload);
    const auto again = parse_payload(*payload);
    if (!again) FAIL(again.error().message);
    const auto workload = to_workload(*again);
    if (!workload) FAIL(workload.error().message);
    return *workload;
}

}  // namespace

TEST_CASE("a Keras model is read with its input, sources and frozen layers", "[model][formats]") {
    // 3 x 3 x 3 x 8 + 8 = 224, frozen; 1 x 1 x 8 x 8 = 64; batch norm 16; 8 x 2 + 2 = 18.
    const auto w =
        good_workload(R"({"class_name": "Functional", "keras_version": "2.6.0", "config": {"name": "small", "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 32, 48, 3], "name": "in"}, "inbound_nodes": []},
        {"class_name": "Conv2D", "config": {"name": "c1", "trainable": false, "filters": 8, "kernel_size": [3, 3], "strides": [2, 2],
          "padding": "same", "activation": "relu", "use_bias": true}, "inbound_nodes": [[["in", 0, 0, {}]]]},
        {"class_name": "Conv2D", "config": {"name": "c2", "filters": 8, "kernel_size": [1, 1], "use_bias": false, "activation": "linear"},
          "inbound_nodes": [[["c1", 0, 0, {}]]]},
        {"class_name": "Add", "config": {"name": "sum"}, "inbound_nodes": [[["c1", 0, 0, {}], ["c2", 0, 0, {}]]]},
        {"class_name": "BatchNormalization", "config": {"name": "bn"}, "inbound_nodes": [[["sum", 0, 0, {}]]]},
        {"class_name": "GlobalAveragePooling2D", "config": {"name": "gap"}, "inbound_nodes": [[["bn", 0, 0, {}]]]},
        {"class_name": "Flatten", "config": {"name": "flat"}, "inbound_nodes": [[["gap", 0, 0, {}]]]},
        {"class_name": "Dense", "config": {"name": "fc", "units": 2, "activation": "softmax"}, "inbound_nodes": [[["flat", 0, 0, {}]]]}]}})");
    CHECK(w.model.layers[0].input == Shape{3, 32, 48});
    CHECK(w.model.layers[0].output == Shape{8, 16, 24});
    CHECK(w.model.parameters == 224 + 64 + 16 + 18);
    CHECK(w.model.trainable_parameters == 64 + 16 + 18);
}

// 16 x 4 + 4 = 68. TensorFlow.js's own models hold the topology itself, converted ones a model_config inside.
TEST_CASE("a model of TensorFlow.js is what its topology says", "[model][formats]") {
    const std::string keras = R"({"class_name": "Sequential", "config": {"name": "m", "layers": [{"class_name": "Dense",
        "config": {"name": "a", "units": 4, "batch_input_shape": [null, 16]}}]}})";
    CHECK(good_workload(R"({"format": "layers-model", "modelTopology": )" + keras + R"(, "weightsManifest": []})")
              .model.parameters == 68);
    CHECK(good_workload(R"({"modelTopology": {"keras_version": "2.4.0", "model_config": )" + keras + "}}")
              .model.parameters == 68);
}

TEST_CASE("Keras layers that read each other are refused at their place", "[model][formats]") {
    CHECK_THAT(error_of(R"({"class_name": "Functional", "config": {"layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 8, 8, 3], "name": "i"}, "inbound_nodes": []},
        {"class_name": "Add", "config": {"name": "a"}, "inbound_nodes": [[["b", 0, 0, {}], ["i", 0, 0, {}]]]},
        {"class_name": "Add", "config": {"name": "b"}, "inbound_nodes": [[["a", 0, 0, {}], ["i", 0, 0, {}]]]}]}})"),
               Catch::StartsWith("model description:3:9: \"a\" waits for its own output"));
}

TEST_CASE("Keras 3 names sources by keras_history", "[model][formats]") {
    const auto w = good_workload(R"({"class_name": "Functional", "module": "keras", "config": {"name": "m", "layers": [
        {"class_name": "InputLayer", "config": {"batch_shape": [null, 16], "name": "in"}, "inbound_nodes": []},
        {"class_name": "Dense", "config": {"name": "a", "units": 4}, "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__",
          "config": {"shape": [null, 16], "keras_history": ["in", 0, 0]}}], "kwargs": {}}]},
        {"class_name": "Dense", "config": {"name": "b", "units": 4}, "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__",
          "config": {"shape": [null, 16], "keras_history": ["in", 0, 0]}}], "kwargs": {}}]}]}})");
    CHECK(w.model.layers[1].input == Shape{16});
    CHECK(w.model.parameters == 2 * (16 * 4 + 4));
}

// A frozen network as a layer, then a head: 3 x 3 x 3 x 4 + 4 = 112 frozen, of Keras 2 (the input inside) and 3 alike;
// a convolution of 1 x 1 x 4 x 4 + 4 = 20 whose output leaves, and one that leads nowhere; 4 x 2 + 2 = 10.
TEST_CASE("a Keras model inside a model is its layers, frozen with it", "[model][formats]") {
    const std::string base = R"({"class_name": "Functional", "config": {"name": "base", "trainable": false, "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 8, 8, 3], "name": "in"}, "inbound_nodes": []},
        {"class_name": "Rescaling", "config": {"name": "scale"}, "inbound_nodes": [[["in", 0, 0, {}]]]},
        {"class_name": "Conv2D", "config": {"name": "c", "filters": 4, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same"},
          "inbound_nodes": [[["scale", 0, 0, {}]]]},
        {"class_name": "Conv2D", "config": {"name": "out", "filters": 4, "kernel_size": [1, 1]}, "inbound_nodes": [[["c", 0, 0, {}]]]},
        {"class_name": "Conv2D", "config": {"name": "unused", "filters": 4, "kernel_size": [1, 1]}, "inbound_nodes": [[["c", 0, 0, {}]]]}],
        "output_layers": [["out", 0, 0]]}})";
    const std::string head = R"({"class_name": "GlobalAveragePooling2D", "config": {"name": "c"}},
        {"class_name": "Flatten", "config": {"name": "flat"}}, {"class_name": "Dense", "config": {"name": "fc", "units": 2}})";
    const auto sequential = good_workload(R"({"class_name": "Sequential", "config": {"name": "m", "layers": [)" + base +
                                          "," + head + "]}}");
    CHECK(sequential.model.parameters == 112 + 20 + 10);
    CHECK(sequential.model.trainable_parameters == 10);
    CHECK(sequential.model.layers[0].name == "base/c");
    CHECK(sequential.model.layers[0].output == Shape{4, 4, 4});
    const auto functional = good_workload(
        R"({"class_name": "Functional", "config": {"name": "m", "layers": [
        {"class_name": "InputLayer", "config": {"batch_shape": [null, 8, 8, 3], "name": "image"}, "inbound_nodes": []},
        {"name": "base", "inbound_nodes": [[["image", 0, 0, {}]]], )" +
        base.substr(1) +
        R"(, {"class_name": "Add", "config": {"name": "sum"}, "inbound_nodes": [[["base", 0, 0, {}], ["base", 0, 0, {}]]]}, )" +
        head + "]}}");
    CHECK(functional.model.parameters == 112 + 20 + 10);
    CHECK(functional.model.trainable_parameters == 10);
}

TEST_CASE("a built Sequential of Keras 3 keeps its input beside the layers", "[model][formats]") {
    CHECK(good_workload(
              R"({"class_name": "Sequential", "config": {"name": "m", "build_input_shape": [null, 16], "layers": [
        {"class_name": "Dense", "config": {"name": "a", "units": 4}}]}})")
              .model.parameters == 68);
    CHECK_THAT(
        error_of(R"({"class_name": "Sequential", "config": {"layers": [{"class_name": "InputLayer", "config": {}}]}})"),
        Catch::Contains("add \"batch_shape\""));
}

// VGG-16's parameters are public; its head as 7x7 and 1x1 convolutions counts the same: 138,357,544.
TEST_CASE("files of other tools are told by content", "[model][formats]") {
    if (absent(inputs)) return;
    CHECK(from_file(inputs + "justus_mlpredict_VGG16.json").model.parameters == 138'357'544);
    CHECK(from_file(inputs + "hf_bert_large.json").model.parameters == 335'141'888);
    CHECK(from_file(inputs + "hf_gpt2_large.json").model.parameters == 774'030'080);
    const auto llama = from_file(inputs + "hf_llama32_1b.json");
    CHECK(llama.model.parameters == 1'235'814'400);
    CHECK(llama.model.name == "hf_llama32_1b");
    const auto keras = from_file(inputs + "keras260_vgg16_full.json");
    CHECK(keras.model.layers[0].output == Shape{64, 224, 224});
    CHECK(keras.model.parameters == 138'357'544 - 4097 * 998);  // two classes instead of a thousand
}

// The names say billions of parameters, as their papers count.
TEST_CASE("configs of models without a public name give the size in their name", "[model][formats]") {
    if (absent(steps)) return;
    const auto [file, billions] = GENERATE(table<std::string, double>({
        {"gpt-1.7b", 1.7},
        {"gpt-7.5b", 7.5},
        {"gpt-39.1b", 39.1},
        {"gpt-145.6b", 145.6},
        {"gpt-529.6b", 529.6},
        {"gpt3-175b", 174.6},
        {"megatron-22b", 22},
        {"megatron-1t", 1008},
        {"mt-nlg-530b", 530},
        {"transformer_xl_base_wt103", 0.192},
        {"transformer_wmt_big", 0.211},
    }));
    CAPTURE(file);
    CHECK(from_file(steps + file + ".json").model.parameters / 1e9 ==
          Approx(billions).epsilon(0.03));  // digits of the name
}

TEST_CASE("every model of the measured steps can be described", "[model][formats]") {
    if (absent(steps)) return;
    std::ifstream table(steps + "../steps.csv");
    std::set<std::string> models;
    std::string line;
    std::getline(table, line);
    while (std::getline(table, line)) models.insert(split(line, ',').at(4));  // no column before it is quoted
    CHECK(models.size() == 58);
    for (const std::string& model : models)
        CHECK(from_file(model.starts_with("models/") ? steps + "../" + model : model).model.parameters > 1'000'000);
}

TEST_CASE("every zoo model builds, and travels in a few bytes", "[model][zoo]") {
    std::size_t largest = 0;
    for (const std::string& name : zoo_names()) {
        const auto declaration = read_model_argument(name);
        REQUIRE(declaration);
        const auto workload = to_workload(*declaration);
        INFO(name);
        REQUIRE(workload);
        CHECK(workload->model.layers.size() > 10);
        largest = std::max(largest, to_payload(*declaration)->size());
    }
    std::cout << "largest payload of " << zoo_names().size() << " zoo models: " << largest << " bytes\n";
    CHECK(largest <= 512);
}

TEST_CASE("an unknown model type names those known", "[model][formats]") {
    CHECK_THAT(error_of(R"({"model_type": "gpt3"})"),
               Catch::Contains("unknown model_type \"gpt3\"") && Catch::Contains("did you mean \"gpt2\"?"));
    CHECK_THAT(error_of(R"({"model_type": "gpt2", "n_layer": 2})"), Catch::Contains("needs \"n_embd\""));
}

// 8 x 16 x 16 = 2048 inputs of the third layer, as its dim_input says.
TEST_CASE("a fully connected layer of a numbered list reads the whole image before it", "[model][formats]") {
    const auto list = [](const std::string& type) {
        return R"({"layers": {"1": {"type": "Convolution", "kernelsize": 3, "channels_out": 8, "padding": "SAME", "strides": 1},
            "2": {"type": "Max_pool", "pool_size": 2, "strides": 2}, "3": {"type": ")" +
               type + R"(", "dim_input": 2048, "dim_output": 10}, "4": {"type": "dense", "dim_output": 4}},
            "input": {"dimension": 3, "size": 32}, "training": {"steps": 5}, "dataset": "cifar10"})";
    };
    const Workload w = good_workload(list("Fully_connected"));
    CHECK(w.model.parameters == 3 * 9 * 8 + 8 + 2048 * 10 + 10 + 10 * 4 + 4);
    CHECK(w.training.steps == 5);
    CHECK(w.dataset.samples == 50'000);
    for (const char* unknown : {"Global_avg_pool", "convolution_depthwise", "Conv1D", "Unpool", "denser"})
        CHECK_THAT(error_of(list(unknown)), Catch::Contains(fmt::format("unknown type \"{}\"", unknown)));
}

TEST_CASE("training and data set may stand beside the keys of a config.json", "[model][formats]") {
    const std::string config =
        R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 2, "vocab_size": 100, "dataset": )";
    const Workload w = good_workload(config + R"("alpaca", "training": {"num_train_epochs": 3, "bf16": true}})");
    CHECK(w.training.epochs == 3.0);
    CHECK(w.training.precision == Precision::bf16);
    CHECK(w.dataset.samples == 52'002);
    CHECK(good_workload(config + R"("some corpus"})").dataset.samples == 0);  // a key of the config's own
}
