// SPDX-License-Identifier: GPL-2.0-or-later
// How long a user's file keeps sbatch waiting: 1 MiB of JSON (aim: 5 ms), 100 MB of ONNX (aim: 50 ms), every zoo name.
#include <benchmark/benchmark.h>
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

void read(benchmark::State& state, const std::string& argument) {
    for (auto _ : state) {
        const auto declaration = dlcast::read_model_argument(argument);
        const auto workload = declaration ? dlcast::to_workload(*declaration) : declaration.error();
        if (!workload) state.SkipWithError(workload.error().message.c_str());
        benchmark::DoNotOptimize(workload);
    }
}

// A Hugging Face config whose tables of labels fill 1 MiB, as those of many classes do.
void json_of_1_MiB(benchmark::State& state) {
    std::string labels;
    for (int i = 0; labels.size() < (1u << 20) - 1000; ++i)
        labels += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"LABEL_" + std::to_string(i) + "\"";
    const File file(".json",
                    R"({"model_type":"bert","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,)"
                    R"("vocab_size":30522,"id2label":{)" +
                        labels + "}}");
    read(state, file.path());
}
BENCHMARK(json_of_1_MiB)->Unit(benchmark::kMillisecond);

// 25 products of 1 M fp32 weights each.
void onnx_of_100_MB(benchmark::State& state) {
    using namespace onnx_writer;
    std::string graph = input("x0", {1, 128, 1024});
    for (int i = 0; i < 25; ++i) {
        const std::string at = std::to_string(i);
        graph += weight("w" + at, {1024, 1024}, std::string(4 << 20, 'w')) +
                 node("MatMul", {"x" + at, "w" + at}, "x" + std::to_string(i + 1));
    }
    const File file(".onnx", model(graph));
    read(state, file.path());
}
BENCHMARK(onnx_of_100_MB)->Unit(benchmark::kMillisecond);

void zoo_name(benchmark::State& state) { read(state, "resnet50"); }
BENCHMARK(zoo_name)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
