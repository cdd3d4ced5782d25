// SPDX-License-Identifier: GPL-2.0-or-later
// Many submissions through the loaded plugin: `dlcast_stress forecasts COUNT [THREADS]` (memory stays flat) or
// `dlcast_stress fuzz COUNT [SEED]` (damaged payloads and requests: no crash, none computes beyond its deadline).
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

namespace {

using slurm_host::duplicate;
using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // slower, and keeps freed memory
#else
constexpr bool sanitized = false;
#endif

constexpr double longest_cpu_ms = 50.0;  // deadline_ms of the site

double resident_mib() {
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    return double(resident) * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double cpu_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * double(now.tv_sec) + 1e-6 * double(now.tv_nsec);
}

const std::vector<std::string>& payloads() {
    static const std::vector<std::string> texts{
        R"({"model":"vgg16","dataset":"imagenet-1k","training":{"epochs":2,"batch_size":32}})",
        R"({"model":"resnet50","training":{"steps":1000,"batch_size":64,"precision":"amp"}})",
        R"({"model":"bert-base-uncased","dataset":{"samples":5000,"seq_len":128},"training":{"epochs":3,"batch_size":8}})",
        R"({"model":{"model_type":"llama","hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":32,"vocab_size":32000,"intermediate_size":8192},"training":{"steps":50,"batch_size":1,"precision":"bf16","parallel":{"zero":3}}})",
        R"({"model":{"name":"net","input":[3,32,32],"layers":[{"type":"conv2d","out":64,"kernel":3,"padding":"same","repeat":2},{"type":"flatten"},{"type":"linear","out":10}]},"training":{"steps":5,"batch_size":64}})",
    };
    return texts;
}

class Submitter {
public:
    Submitter(JobSubmitPlugin& plugin, std::uint64_t seed) : plugin_(plugin), random_(seed) {}

    // A batch size among `variety`, so that some forecasts are remembered and some are new.
    void honest(int variety) {
        std::string payload = payloads()[below(payloads().size())];
        const auto at = payload.find("\"batch_size\":") + std::strlen("\"batch_size\":");
        payload.replace(at, payload.find_first_not_of("0123456789", at) - at, std::to_string(1 + below(variety)));
        Job job;
        job.set_spank_env({"DLCAST_MODEL=" + payload, "OTHER=1"});
        job->tres_per_job = duplicate("gres:gpu:" + std::to_string(1 << below(3)));
        plugin_.submit(job);
        forecasts += job->admin_comment != nullptr;
    }

    // Every second one has few damages, so that it comes far.
    void forged() {
        Job job;
        const bool lightly = below(2) == 0;
        const int text_odds = lightly ? 12 : 3, number_odds = lightly ? 16 : 4;
        job.set_spank_env({"DLCAST_MODEL=" + damaged(payloads()[below(payloads().size())])});
        static const std::vector<std::string> texts{"gres:gpu:a100:4", "gpu:2,shard:3",   "a100,t4,nowhere",
                                                    "0-9%3,1,1,5-7:2", "(a|b)&[c*2|d],e", "{\"a\":[1,2]}",
                                                    "gres/gpu=1k",     "normal"};
        for (char** field :
             {&job->partition, &job->features, &job->account, &job->qos, &job->array_inx, &job->admin_comment,
              &job->tres_per_job, &job->tres_per_node, &job->tres_per_task, &job->tres_per_socket, &job->script})
            if (below(text_odds) == 0) *field = duplicate(damaged(texts[below(texts.size())]));
        if (lightly || below(2) == 0) job->tres_per_job = replaced(job->tres_per_job, "gres:gpu:1");
        for (std::uint32_t* number : {&job->time_limit, &job->time_min, &job->min_nodes, &job->max_nodes,
                                      &job->num_tasks, &job->user_id, &job->het_job_offset})
            if (below(number_odds) == 0) *number = static_cast<std::uint32_t>(random_()) >> below(32);
        for (std::uint16_t* number : {&job->ntasks_per_node, &job->ntasks_per_socket, &job->ntasks_per_tres,
                                      &job->sockets_per_node, &job->shared})
            if (below(number_odds) == 0) *number = static_cast<std::uint16_t>(random_() >> below(16));
        const double start = cpu_ms();
        plugin_.submit(job);
        slowest_ms = std::max(slowest_ms, cpu_ms() - start);
        forecasts += job->admin_comment && std::strstr(job->admin_comment, "{\"dlcast\":{");
        if (job->spank_job_env_size != 0) std::abort();
    }

    std::uint64_t forecasts = 0;
    double slowest_ms = 0.0;

private:
    std::size_t below(std::size_t limit) { return random_() % limit; }
    std::size_t below(int limit) { return below(static_cast<std::size_t>(limit)); }

    static char* replaced(char* old, const char* text) {
        slurm_host::release(old);
        return duplicate(text);
    }

    // Bytes changed, cut out, doubled; numbers made large; nothing at all.
    std::string damaged(std::string text) {
        for (std::size_t hits = below(4); hits > 0 && !text.empty(); --hits) {
            const std::size_t at = below(text.size()), length = 1 + below(8);
            switch (below(5)) {
                case 0:
                    text[at] = static_cast<char>(1 + below(255));
                    break;
                case 1:
                    text.erase(at, length);
                    break;
                case 2:
                    text.insert(at, text.substr(below(text.size()), length));
                    break;
                case 3:
                    text.insert(at, std::string(below(200), "[{\"9:,"[below(6)]));
                    break;
                default:
                    text[at] = "0123456789-.eE"[below(14)];
            }
        }
        std::erase(text, '\0');
        return text;
    }

    JobSubmitPlugin& plugin_;
    std::mt19937_64 random_;
};

int forecasts(JobSubmitPlugin& plugin, std::uint64_t count, int threads) {
    std::atomic<std::uint64_t> made{0};
    const auto run = [&](std::uint64_t times) {
        std::vector<std::thread> workers;
        for (int t = 0; t < threads; ++t) {
            workers.emplace_back([&, t] {
                Submitter submitter(plugin, static_cast<std::uint64_t>(t) + 1);
                for (std::uint64_t i = 0; i < times / static_cast<std::uint64_t>(threads); ++i) {
                    submitter.honest(2000);
                    if (i % 1000 == 0) slurm_host::take_log();
                }
                made += submitter.forecasts;
            });
        }
        for (std::thread& worker : workers) worker.join();
        slurm_host::take_log();
    };
    run(std::max<std::uint64_t>(count / 10, 20'000));  // caches are full after that
    const double before = resident_mib();
    made = 0;
    run(count);
    const double grown = resident_mib() - before;
    std::printf("%llu submissions on %d threads, %llu forecasts; resident %.1f MiB, %+.1f MiB\n",
                static_cast<unsigned long long>(count), threads, static_cast<unsigned long long>(made.load()), before,
                grown);
    return made > 0 && (sanitized || grown < 5.0) ? 0 : 1;
}

int fuzz(JobSubmitPlugin& plugin, std::uint64_t count, std::uint64_t seed) {
    Submitter submitter(plugin, seed);
    for (std::uint64_t i = 0; i < count; ++i) {
        submitter.forged();
        if (i % 1000 == 0) slurm_host::take_log();
        if (i % 1'000'000 == 0 && i > 0) std::printf("%llu\n", static_cast<unsigned long long>(i)), std::fflush(stdout);
    }
    std::printf("%llu damaged submissions (seed %llu), %llu forecasts, no crash; slowest %.1f ms of CPU time\n",
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(submitter.forecasts), submitter.slowest_ms);
    return submitter.forecasts > 0 && (sanitized || submitter.slowest_ms < longest_cpu_ms) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what != "forecasts" && what != "fuzz") {
        std::fputs("usage: dlcast_stress forecasts COUNT [THREADS] | fuzz COUNT [SEED]\n", stderr);
        return 2;
    }
    const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
    const std::uint64_t third = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    const Site site;
    const bool has_module = !sanitized && std::filesystem::exists(built_module());
    JobSubmitPlugin plugin(site.config(), has_module ? built_module() : no_module);
    std::printf("%s answers\n", has_module ? "the network" : "the analytic model");
    return what == "fuzz" ? fuzz(plugin, count, third)
                          : forecasts(plugin, count, static_cast<int>(std::max<std::uint64_t>(1, third)));
}
