// SPDX-License-Identifier: GPL-2.0-or-later
// Time inside job_submit of the loaded plugin, under which slurmctld holds its locks: a vgg16 job that may run in four
// partitions (a100, v100, t4, l4), and a job without the option. One GPU of any type, no limit, no partition given.
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

std::string vgg16_entry(const Site& site, int batch_size) {
    const std::string model =
        site.write("vgg16.json", R"({"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":9,"batch_size":)" +
                                     std::to_string(batch_size) + "}}");
    return "DLCAST_MODEL=" + slurm_host::payload_of(model);
}

// Submits jobs with the entries of spank_job_env in turn; reports the quantiles of job_submit alone.
void time_submissions(benchmark::State& state, JobSubmitPlugin& plugin, const std::vector<std::string>& entries) {
    std::vector<double> times_us;
    for (auto _ : state) {
        Job job;
        job.set_spank_env({entries[times_us.size() % entries.size()]});
        job->tres_per_job = slurm_host::duplicate("gres:gpu:1");
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
    const bool has_module = std::filesystem::exists(built_module());
    if (!has_module) std::puts("no LibTorch module in this build: the analytic model answers");
    JobSubmitPlugin plugin(site.config(), has_module ? built_module() : no_module);
    for (const std::string& line : slurm_host::take_log()) std::puts(line.c_str());

    // A batch size that did not occur before makes every layer of the model new to the plugin.
    std::vector<std::string> fresh;
    for (int batch_size = 33; batch_size < 533; ++batch_size) fresh.push_back(vgg16_entry(site, batch_size));
    const std::vector<std::string> known{vgg16_entry(site, 32)};
    const std::vector<std::string> without{"OTHER=1"};
    const auto measure = [&](const char* name, const std::vector<std::string>& entries, int times) {
        benchmark::RegisterBenchmark(name, [&](benchmark::State& state) { time_submissions(state, plugin, entries); })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->Iterations(times);
    };
    measure("vgg16, 4 partitions, first sight", fresh, static_cast<int>(fresh.size()));
    measure("vgg16, 4 partitions, repeated", known, 2000);
    measure("without the option", without, 20000);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
