// SPDX-License-Identifier: GPL-2.0-or-later
// Time inside job_submit of the loaded plugin, under which slurmctld holds its locks: a vgg16 job that may run in four
// partitions, a Llama of 80 blocks in eight, each at first sight and repeated, and a job without the option.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

namespace {

using Clock = std::chrono::steady_clock;
using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

// Eight partitions with one type of GPU each; vgg16 names the first four.
void write_partitions(const Site& site) {
    std::string text = "[cluster]\nname = \"bench\"\n";
    for (const char* gpu : {"a100", "v100", "t4", "l4", "h100", "a40", "l40s", "p100"})
        text += std::string("[[partition]]\nname = \"") + gpu +
                "\"\nmax_time_min = 20160\n[[partition.nodes]]\ngpu = \"" + gpu +
                "\"\ngpus_per_node = 8\nnodes = 4\ncpus_per_node = 64\nmemory_bytes = 500000000000\n";
    site.write("cluster.toml", text);
}

std::string entry_of(const Site& site, const std::string& model) {
    return "DLCAST_MODEL=" + slurm_host::payload_of(site.write("model.json", model));
}

std::string vgg16_entry(const Site& site, int batch_size) {
    return entry_of(site, R"({"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":9,"batch_size":)" +
                              std::to_string(batch_size) + "}}");
}

// The sizes of Llama 3 70B: 80 blocks of 12 layers.
std::string llama_entry(const Site& site, int batch_size) {
    return entry_of(site,
                    R"({"model":{"model_type":"llama","name":"llama-80","hidden_size":8192,"num_hidden_layers":80,)"
                    R"("num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,)"
                    R"("vocab_size":128256,"max_position_embeddings":8192},"dataset":{"samples":10000,)"
                    R"("seq_len":2048},"training":{"epochs":1,"precision":"bf16","parallel":{"zero":3},)"
                    R"("batch_size":)" +
                        std::to_string(batch_size) + "}}");
}

struct Request {
    std::string entry;
    const char* partition;
    const char* gpus;
};

// Submits the requests in turn; reports the quantiles of job_submit alone.
void time_submissions(benchmark::State& state, JobSubmitPlugin& plugin, const std::vector<Request>& requests) {
    std::vector<double> times_us;
    for (auto _ : state) {
        const Request& request = requests[times_us.size() % requests.size()];
        Job job;
        job.set_spank_env({request.entry});
        job->partition = slurm_host::duplicate(request.partition);
        job->tres_per_job = slurm_host::duplicate(request.gpus);
        const auto start = Clock::now();
        plugin.submit(job);
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        state.SetIterationTime(elapsed.count());
        times_us.push_back(elapsed.count() * 1e6);
        if (job->spank_job_env_size == 0 && job->time_limit == NO_VAL) state.SkipWithError("no forecast was made");
    }
    slurm_host::take_log();
    std::sort(times_us.begin(), times_us.end());
    const auto quantile = [&](double q) { return times_us[static_cast<std::size_t>(q * double(times_us.size() - 1))]; };
    state.counters["p50_us"] = quantile(0.50);
    state.counters["p99_us"] = quantile(0.99);
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const Site site;
    write_partitions(site);
    const bool has_module = std::filesystem::exists(built_module());
    if (!has_module) std::puts("no LibTorch module in this build: the analytic model answers");
    JobSubmitPlugin plugin(site.config(), has_module ? built_module() : no_module);
    for (const std::string& line : slurm_host::take_log()) std::puts(line.c_str());

    // A batch size that did not occur before makes every layer of the model new to the plugin.
    const char* const four = "a100,v100,t4,l4";
    const char* const eight = "a100,v100,t4,l4,h100,a40,l40s,p100";
    std::vector<Request> fresh, fresh_llama;
    for (int batch_size = 33; batch_size < 1033; ++batch_size)
        fresh.push_back({vgg16_entry(site, batch_size), four, "gres:gpu:1"});
    for (int batch_size = 2; batch_size < 202; ++batch_size)
        fresh_llama.push_back({llama_entry(site, batch_size), eight, "gres:gpu:8"});
    const std::vector<Request> known{{vgg16_entry(site, 32), four, "gres:gpu:1"}};
    const std::vector<Request> known_llama{{llama_entry(site, 1), eight, "gres:gpu:8"}};
    const std::vector<Request> without{{"OTHER=1", four, "gres:gpu:1"}};
    const auto measure = [&](const char* name, const std::vector<Request>& requests, int times) {
        benchmark::RegisterBenchmark(name, [&](benchmark::State& state) { time_submissions(state, plugin, requests); })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->Iterations(times);
    };
    measure("vgg16, 4 partitions, first sight", fresh, static_cast<int>(fresh.size()));
    measure("vgg16, 4 partitions, repeated", known, 2000);
    measure("80-block Llama, 8 partitions, first sight", fresh_llama, static_cast<int>(fresh_llama.size()));
    measure("80-block Llama, 8 partitions, repeated", known_llama, 2000);
    measure("without the option", without, 20000);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
