// SPDX-License-Identifier: GPL-2.0-or-later
// How long a user's file keeps sbatch waiting: 1 MiB of JSON (aim: 5 ms), 100 MB of ONNX (aim: 50 ms), every zoo name.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "predictor/model/workload.h"
#include "tests/model/onnx_writer.h"

namespace {

namespace fs = std::filesystem;

class File {
public:
    File(const std::string& name, const std::string& content)
        : path_(fs::temp_directory_path() / (std::to_string(::getpid()) + name)) {
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~File() { fs::remove(path_); }
    std::string path() const { return path_; }

private:
    fs::path path_;
};

// From the file to what travels with the job; a description too long for that is refused at the end, which costs as
// much.
void normalise(benchmark::State& state, const std::string& argument) {
    for (auto _ : state) {
        const auto declaration = dlcast::read_model_argument(argument);
        if (!declaration) state.SkipWithError(declaration.error().message.c_str());
        const auto payload = declaration ? dlcast::to_payload(*declaration) : declaration.error();
        benchmark::DoNotOptimize(payload);
    }
}

// `head`, one(0), one(1), .. with commas between until 1 MiB is full, `tail`.
template <typename One>
std::string fill(const std::string& head, One&& one, const std::string& tail) {
    std::string text = head;
    for (int i = 0;; ++i) {
        const std::string next = fmt::format("{}{}", i ? "," : "", one(i));
        if (text.size() + next.size() + tail.size() > 1U << 20) return text + tail;
        text += next;
    }
}

// A Hugging Face config whose tables of labels fill 1 MiB, as those of many classes do.
void hugging_face_of_1_MiB(benchmark::State& state) {
    const File file(
        ".json",
        fill(
            R"({"model_type":"bert","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"vocab_size":30522,"id2label":{)",
            [](int i) { return fmt::format(R"("{0}":"LABEL_{0}")", i); }, "}}"));
    normalise(state, file.path());
}
BENCHMARK(hugging_face_of_1_MiB)->Unit(benchmark::kMillisecond);

// Some 20,000 layers written out.
void layers_of_1_MiB(benchmark::State& state) {
    const auto one = [](int i) {
        if (i % 2) return fmt::format(R"({{"type":"batch_norm","name":"b{}"}})", i);
        return fmt::format(R"({{"type":"conv2d","name":"c{}","out":64,"kernel":[3,3],"padding":"same","bias":false}})",
                           i);
    };
    const File file(".json", fill(R"({"model":{"input":[64,8,8],"layers":[)", one, "]}}"));
    normalise(state, file.path());
}
BENCHMARK(layers_of_1_MiB)->Unit(benchmark::kMillisecond);

// Some 6,000 numbered layers.
void layer_list_of_1_MiB(benchmark::State& state) {
    const auto one = [](int i) {
        return fmt::format(
            R"("{}":{{"type":"Convolution","matsize":8,"channels_in":64,"channels_out":64,"kernelsize":3,)"
            R"("strides":1,"padding":"SAME","use_bias":1,"activation":"relu","name":"conv{}"}})",
            i + 1, i);
    };
    const File file(".json", fill(R"({"input":{"dimension":64,"size":8},"layers":{)", one, "}}"));
    normalise(state, file.path());
}
BENCHMARK(layer_list_of_1_MiB)->Unit(benchmark::kMillisecond);

// Some 1,600 layers with all that Keras says of each.
void keras_of_1_MiB(benchmark::State& state) {
    const auto one = [](int i) {
        return fmt::format(
            R"({{"class_name": "Conv2D", "config": {{"name": "conv{0}", "trainable": true, "dtype": "float32", "filters": 64, )"
            R"("kernel_size": [3, 3], "strides": [1, 1], "padding": "same", "data_format": "channels_last", )"
            R"("dilation_rate": [1, 1], "groups": 1, "activation": "relu", "use_bias": true, "kernel_initializer": )"
            R"({{"class_name": "GlorotUniform", "config": {{"seed": null}}}}, "bias_initializer": {{"class_name": "Zeros", )"
            R"("config": {{}}}}, "kernel_regularizer": null, "bias_regularizer": null, "activity_regularizer": null, )"
            R"("kernel_constraint": null, "bias_constraint": null}}, "name": "conv{0}", "inbound_nodes": [[["{1}", 0, 0, {{}}]]]}})",
            i, i ? fmt::format("conv{}", i - 1) : "in");
    };
    const File file(
        ".json",
        fill(R"({"class_name":"Functional","config":{"name":"m","layers":[{"class_name":"InputLayer","config":)"
             R"({"batch_input_shape":[null,8,8,64],"name":"in"},"name":"in","inbound_nodes":[]},)",
             one, "]}}"));
    normalise(state, file.path());
}
BENCHMARK(keras_of_1_MiB)->Unit(benchmark::kMillisecond);

void read(benchmark::State& state, const std::string& argument) {
    for (auto _ : state) {
        const auto declaration = dlcast::read_model_argument(argument);
        const auto workload = declaration ? dlcast::to_workload(*declaration) : declaration.error();
        if (!workload) state.SkipWithError(workload.error().message.c_str());
        benchmark::DoNotOptimize(workload);
    }
}

// 25 products of 1 M fp32 weights each.
void onnx_of_100_MB(benchmark::State& state) {
    using namespace onnx_writer;
    std::string graph = input("x0", {1, 128, 1024});
    for (int i = 0; i < 25; ++i)
        graph += weight(fmt::format("w{}", i), {1024, 1024}, std::string(4 << 20, 'w')) +
                 node("MatMul", {fmt::format("x{}", i), fmt::format("w{}", i)}, fmt::format("x{}", i + 1));
    const File file(".onnx", model(graph));
    read(state, file.path());
}
BENCHMARK(onnx_of_100_MB)->Unit(benchmark::kMillisecond);

void zoo_name(benchmark::State& state) { read(state, "resnet50"); }
BENCHMARK(zoo_name)->Unit(benchmark::kMillisecond);

void hub_name(benchmark::State& state) { read(state, "meta-llama/Llama-2-7b-hf"); }
BENCHMARK(hub_name)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
