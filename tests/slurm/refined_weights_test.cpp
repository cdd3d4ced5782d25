// SPDX-License-Identifier: GPL-2.0-or-later
// Weights that `dlcast refine` publishes while the loaded plugin serves submissions, and the way back.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/slurm/site.h"
#include "tests/slurm/slurm_host.h"

using slurm_host::duplicate;
using slurm_host::Job;
using slurm_host::JobSubmitPlugin;

namespace {

// Steps of two models, so many seconds each, as dlcast-profile writes them.
std::string steps_of(double resnet18_s, double resnet50_s) {
    std::string out;
    for (const auto& [model, time_s] : {std::pair{"resnet18", resnet18_s}, {"resnet50", resnet50_s}}) {
        const std::string s = std::to_string(time_s);
        out +=
            std::string(R"({"v":1,"device":{"name":"A100-SXM4-80GB"},"versions":{"backend":"test"},"host":"node",)") +
            R"("rank":0,"clock":"kernel","pass":{"model":")" + model +
            R"(","batch":64,"pass":"step","training":true,"precision":"fp32","optimizer":"sgd","ranks":1,"nodes":1},)" +
            R"("repetitions":10,"outliers":0,"median_s":)" + s + R"(,"relative_ci":0.01,"fastest_s":)" + s +
            R"(,"slowest_s":)" + s + "}\n";
    }
    return out;
}

// "dlcast refine ..." with the site's configuration.
bool refine(const Site& site, const std::string& arguments) {
    const std::string command =
        DLCAST_BINARY_DIR "/cli/dlcast refine --config " + site.config() + " " + arguments + " >/dev/null";
    return std::system(command.c_str()) == 0;
}

struct Forecast {
    std::string weights;
    double p50_s = 0.0;
};

// What admin_comment says of a job.
Forecast forecast_of(JobSubmitPlugin& plugin) {
    Job job;
    job.set_spank_env(
        {R"(DLCAST_MODEL={"model":"resnet34","dataset":"imagenet-1k","training":{"epochs":9,"batch_size":64}})"});
    job->tres_per_node = duplicate("gres:gpu:a100:1");
    plugin.submit(job);
    REQUIRE(job->admin_comment);
    const std::string comment = job->admin_comment;
    const auto after = [&](const std::string& key) {
        const std::size_t at = comment.find("\"" + key + "\":");
        REQUIRE(at != std::string::npos);
        return comment.substr(at + key.size() + 3);
    };
    const std::string id = after("weights").substr(1);
    return {id.substr(0, id.find('"')), std::strtod(after("p50_s").c_str(), nullptr)};
}

// The plugin looks for changes once a second.
Forecast forecast_by_other_weights(JobSubmitPlugin& plugin, const std::string& weights) {
    Forecast out;
    for (int i = 0; i < 200; ++i) {
        out = forecast_of(plugin);
        if (out.weights != weights) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return out;
}

}  // namespace

TEST_CASE("weights that refine publishes, and those that rollback turns back to, forecast the next submissions",
          "[slurm]") {
    if (!std::filesystem::exists(built_module())) {
        std::puts("SKIPPED: this build has no dlcast_torch.so");
        return;
    }
    const Site site("deadline_ms = 10000");
    const std::string link = std::filesystem::path(site.config()).parent_path() / "weights";
    const std::string shipped = DLCAST_SOURCE_DIR "/etc/weights";
    const auto publish = [&](const std::string& from, double resnet18_s, double resnet50_s) {
        const std::string samples = site.write("samples.jsonl", steps_of(resnet18_s, resnet50_s));
        return refine(site, "--samples " + samples + " --weights " + from + " --out " + link + " --force");
    };
    REQUIRE(publish(shipped, 0.2, 0.6));
    site.write("dlcast.toml",
               "deadline_ms = 10000\n[gpu_names]\na100 = \"A100-SXM4-80GB\"\nv100 = \"V100-SXM2-32GB\"\n"
               "[files]\ngpus = \"" DLCAST_SOURCE_DIR "/etc/gpus.toml\"\nweights = \"weights\"\n");
    JobSubmitPlugin plugin(site.config(), built_module());
    const Forecast first = forecast_of(plugin);
    CHECK(first.weights.find('+') != std::string::npos);

    REQUIRE(publish(link, 0.8, 2.4));
    const Forecast second = forecast_by_other_weights(plugin, first.weights);
    CHECK(second.weights.find('+') != std::string::npos);
    CHECK(second.weights != first.weights);
    CHECK(second.p50_s > 2.0 * first.p50_s);  // steps that take four times as long

    REQUIRE(refine(site, "--rollback --out " + link));
    const Forecast back = forecast_by_other_weights(plugin, second.weights);
    CHECK(back.weights == first.weights);
    CHECK(back.p50_s == first.p50_s);
}

TEST_CASE("a network that breaks on disk is told once, and the one that was loaded goes on", "[slurm]") {
    if (!std::filesystem::exists(built_module())) {
        std::puts("SKIPPED: this build has no dlcast_torch.so");
        return;
    }
    const Site site("deadline_ms = 10000");
    const std::filesystem::path folder = std::filesystem::path(site.config()).parent_path() / "weights";
    std::filesystem::copy(DLCAST_SOURCE_DIR "/etc/weights", folder, std::filesystem::copy_options::recursive);
    site.write("dlcast.toml",
               "deadline_ms = 10000\n[gpu_names]\na100 = \"A100-SXM4-80GB\"\n[files]\ngpus = "
               "\"" DLCAST_SOURCE_DIR "/etc/gpus.toml\"\nweights = \"weights\"\n");
    JobSubmitPlugin plugin(site.config(), built_module());
    const Forecast before = forecast_of(plugin);
    slurm_host::take_log();
    std::filesystem::resize_file(folder / "network.pt", 1000);
    int told = 0;
    for (int i = 0; i < 60; ++i) {
        CHECK(forecast_of(plugin).p50_s == before.p50_s);
        for (const std::string& line : slurm_host::take_log())
            told += line.find("network.pt") != std::string::npos &&
                    line.find("the weights loaded before stay") != std::string::npos;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    CHECK(told == 1);
}
