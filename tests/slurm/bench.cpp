// SPDX-License-Identifier: GPL-2.0-or-later
// Time inside job_submit of the loaded plugin, under which slurmctld holds its locks: a vgg16 job that may run in four
// partitions, a Llama of 80 blocks in eight, each at first sight and repeated, and a job without the option. Beside the
// quantiles of the clock those of this thread's processor time, which a busy machine leaves alone.
#include <benchmark/benchmark.h>
#include <time.h>

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

// What sbatch hands over, with another batch size.
std::string with_batch_size(std::string entry, int batch_size) {
    const std::string key = "\"batch_size\":";
    const auto at = entry.find(key) + key.size();
    return entry.replace(at, entry.find_first_not_of("0123456789", at) - at, std::to_string(batch_size));
}

std::string entry_of(const Site& site, const std::string& model) {
    return "DLCAST_MODEL=" + slurm_host::payload_of(site.write("model.json", model));
}

constexpr const char* vgg16 = R"({"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":9,"batch_size":32}})";

// The sizes of Llama 3 70B: 80 blocks of 12 layers.
constexpr const char* llama =
    R"({"model":{"model_type":"llama","name":"llama-80","hidden_size":8192,"num_hidden_layers":80,)"
    R"("num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256,)"
    R"("max_position_embeddings":8192},"dataset":{"samples":10000,"seq_len":2048},"training":{"epochs":1,)"
    R"("precision":"bf16","parallel":{"zero":3},"batch_size":1}})";

struct Request {
    std::string entry;
    const char* partition;
    const char* gpus;
};

double cpu_us() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

double quantile(std::vector<double>& values, double q) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

// Submits the requests in turn; reports the quantiles of job_submit alone.
void time_submissions(benchmark::State& state, JobSubmitPlugin& plugin, const std::vector<Request>& requests) {
    std::vector<double> times_us, cpu_times_us;
    for (auto _ : state) {
        const Request& request = requests[times_us.size() % requests.size()];
        Job job;
        job.set_spank_env({request.entry});
        job->partition = slurm_host::duplicate(request.partition);
        job->tres_per_job = slurm_host::duplicate(request.gpus);
        const double cpu_start_us = cpu_us();
        const auto start = Clock::now();
        plugin.submit(job);
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        cpu_times_us.push_back(cpu_us() - cpu_start_us);
        state.SetIterationTime(elapsed.count());
        times_us.push_back(elapsed.count() * 1e6);
        if (job->spank_job_env_size == 0 && job->time_limit == NO_VAL) state.SkipWithError("no forecast was made");
    }
    slurm_host::take_log();
    state.counters["p50_us"] = quantile(times_us, 0.50);
    state.counters["p99_us"] = quantile(times_us, 0.99);
    state.counters["cpu_p50_us"] = quantile(cpu_times_us, 0.50);
    state.counters["cpu_p99_us"] = quantile(cpu_times_us, 0.99);
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
    const std::string vgg16_entry = entry_of(site, vgg16), llama_entry = entry_of(site, llama);
    const std::vector<Request> known{{vgg16_entry, four, "gres:gpu:1"}};
    const std::vector<Request> known_llama{{llama_entry, eight, "gres:gpu:8"}};
    std::vector<Request> fresh, fresh_llama;
    for (int batch_size = 33; batch_size < 10033; ++batch_size)
        fresh.push_back({with_batch_size(vgg16_entry, batch_size), four, "gres:gpu:1"});
    for (int batch_size = 2; batch_size < 2002; ++batch_size)
        fresh_llama.push_back({with_batch_size(llama_entry, batch_size), eight, "gres:gpu:8"});
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
