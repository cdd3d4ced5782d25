// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast refine` by collectives, whole steps and finished jobs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "cli/collectives_evaluation.h"
#include "predictor/base/text.h"
#include "predictor/device/usual_node.h"
#include "predictor/step/nccl_model.h"
#include "predictor/step/step_anchor.h"
#include "tests/accounting/zone.h"
#include "tests/cli/refine_site.h"

using namespace dlcast;
using namespace dlcast::test;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

TEST_CASE("collectives and steps that stand in the weights are known as well", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    const auto write = [&](int last_power, std::vector<std::pair<const char*, double>> steps) {
        std::string text;
        for (int power = 10; power <= last_power; power += 2)
            text += to_json_line(sample_of(MeasuredCollective{Collective::all_reduce, 1u << power, 4, 1, "nccl"},
                                           1e-6 * (30.0 + (1u << power) / 9e3))) +
                    "\n";
        for (const auto& [model, time_s] : steps) {
            MeasuredPass pass;
            pass.model = model;
            pass.batch = 32;
            pass.pass = Pass::step;
            text += to_json_line(sample_of(pass, time_s)) + "\n";
        }
        site.options.samples = {site.folder.write("samples.jsonl", text)};
    };
    const std::vector<std::pair<const char*, double>> three{{"resnet18", 0.2}, {"resnet34", 0.35}, {"resnet50", 0.6}};
    write(24, three);
    const auto first = site.refine();
    INFO((first ? "" : first.error().message));
    REQUIRE(first);
    site.options.weights = site.options.out;
    const auto again = site.refine();
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    CHECK_FALSE(again->published);
    CHECK(again->known == KnownParts{"collectives on L40S", "steps on L40S"});

    auto four = three;
    four.emplace_back("resnet101", 1.0);
    write(28, four);
    const auto with_more = site.refine();
    INFO((with_more ? "" : with_more.error().message));
    REQUIRE(with_more);
    CHECK(with_more->published);
    CHECK(kind_of(*with_more, "steps").held_out == 4);
}

TEST_CASE("a step that its device cannot hold was not measured on it", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    std::string text;
    for (const auto& [batch, time_s] : {std::pair<int, double>{32, 0.2}, {64, 0.4}, {1'000'000'000, 6e6}}) {
        MeasuredPass pass;
        pass.model = "resnet18";
        pass.batch = batch;
        pass.pass = Pass::step;
        text += to_json_line(sample_of(pass, time_s)) + "\n";
    }
    site.options.samples = {site.folder.write("samples.jsonl", text)};
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    CHECK(kind_of(*refined, "steps").held_out == 2);
    CHECK_THAT(site.said, Contains("samples.jsonl:3: a step of resnet18 (batch 1000000000") &&
                              Contains("so it was not measured there; left out"));
}

TEST_CASE("collectives are refined by three sizes as evaluate collectives fits them", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    const auto links = shipped_links();
    const auto shipped = collectives_of(shipped_weights);
    std::string samples, measured = "setup_id,collective,dtype,size_bytes,time_us\n";
    for (int power = 10; power <= 28; power += 2) {
        const double bytes = std::pow(2.0, power), time_us = 30.0 + bytes / 9e3;
        samples += to_json_line(sample_of(MeasuredCollective{Collective::all_reduce, 1u << power, 4, 1, "nccl"},
                                          1e-6 * time_us)) +
                   "\n";
        measured += fmt::format("box,all_reduce,float,{},{}\n", 1u << power, time_us);
    }
    site.options.samples = {site.folder.write("sweep.jsonl", samples)};
    site.options.fit_sizes = 3;
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    CHECK(kind_of(*refined, "collectives").held_out == 7);

    const Fabric fabric = fabric_of(site.device());
    const std::string setups = site.folder.write(
        "setups.csv", fmt::format("setup_id,gpu,gpus,nodes,gpus_per_node,intra,inter,p2p,intra_gbs_per_gpu_unidir\n"
                                  "box,L40S,4,1,4,PCIE4,,{},{}\n",
                                  fabric.node_link == NodeLink::host ? 0 : 1, fabric.node_GBps));
    const auto tables = read_collectives(setups, site.folder.write("measured.csv", measured), *links);
    REQUIRE(tables);
    const auto forecasts = forecast_collectives(*tables, shipped->constants, links->priors, LeftOut::nothing, 3);
    const auto kept = refined_steps_of(site.options.out);
    REQUIRE(kept);
    REQUIRE(kept->collectives.size() == 1);
    REQUIRE(kept->collectives[0].sizes.size() == 3);
    const auto form = [&](double bytes) {
        return nccl_time(Collective::all_reduce, bytes, 4, 1, fabric, shipped->constants)->median_us;
    };
    const CollectiveCorrection correction(kept->collectives[0], form);
    for (std::size_t i = 0; i < tables->rows.size(); ++i) {
        const double bytes = tables->rows[i].bytes;
        CHECK_THAT(form(bytes) * correction.factor(bytes, form(bytes)), WithinRel(forecasts[i].time_us, 1e-6));
    }
}

TEST_CASE("finished jobs correct forecasts of their kind on their GPU", "[refine][torch]") {
    if (!has_torch()) return;
    const Zone zone{"UTC0"};
    Site site;
    const auto model = open_refined_model(module_file, shipped_weights);
    std::string rows =
        "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|ReqTRES|AllocTRES|"
        "AdminComment\n";
    int id = 0;
    const auto add = [&](const std::string& state, const std::string& name, int elapsed_s, int p50_s,
                         const std::string& weights) {
        const std::int64_t end_s = 1'773'100'000;  // 2026-03-09
        rows += fmt::format(
            "{}|ada|lab|l40s|{}|{}|{}|{}|{}|600|1|gres/gpu=1|gres/gpu=1|"
            R"({{"dlcast":{{"v":1,"model":"{}","gpus":1,"nodes":1,"gpu":"L40S","partition":"l40s","p50_s":{},"p95_s":{},"weights":"{}"}}}})"
            "\n",
            ++id, state, end_s - elapsed_s, end_s - elapsed_s, end_s, elapsed_s, name, p50_s, 2 * p50_s, weights);
    };
    const std::string ours = (*model)->weights_id();
    for (const char* name : {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "wide_resnet50_2"})
        for (int run = 0; run < 3; ++run) add("COMPLETED", name, 4800, 4000, ours);
    add("COMPLETED", "resnet18", 40000, 4000, "0000");
    add("FAILED", "resnet18", 100, 4000, ours);
    add("COMPLETED", "resnet18", 400, 100, ours);
    site.options.jobs = true;
    site.options.accounting.sacct_file = site.folder.write("sacct.txt", rows);
    site.options.accounting.begin = "2026-03-01";
    site.options.accounting.end = site.options.accounting.at = "2026-04-01";
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    const RefinedKind& steps = kind_of(*refined, "steps");
    CHECK(steps.rows == 18);
    CHECK(steps.held_out == 6);
    CHECK_THAT(steps.before_pct, WithinRel(100.0 / 6.0, 1e-3));  // 1 / 1.2 is a sixth too short
    CHECK(steps.after_pct < 3.0);
    const std::string family = to_workload(*read_model_argument("resnet50"))->model.family;
    const auto weights = read_step_weights(site.options.out);
    REQUIRE(weights);
    CHECK_THAT(step_factor(weights->factors, "L40S", family), WithinRel(1.2, 0.05));
    CHECK_THAT(site.said, Contains("1 more was forecast by other weights"));
}

TEST_CASE("measured steps are forecast as measured", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    const auto forecast_s = [&](const std::string& weights, const std::string& model) {
        return site.step_forecast(weights, model, 8).step_s;
    };
    const std::vector<std::string> models{"resnet18", "resnet50", "vgg16"};
    std::string samples;
    const auto add = [&](MeasuredPass pass, double time_s) { samples += to_json_line(sample_of(pass, time_s)) + "\n"; };
    for (const std::string& model : models) {
        const double measured_s = 0.8 * forecast_s(shipped_weights, model);
        add({.model = model, .batch = 8, .pass = Pass::step}, measured_s);
        add({.model = model, .batch = 8, .pass = Pass::forward}, 5.0);           // no step
        add({.model = model, .batch = 8, .pass = Pass::step, .ranks = 2}, 7.0);  // exchanges nothing: no training
    }
    site.options.samples = {site.folder.write("steps.jsonl", samples)};
    const auto first = site.refine();
    INFO((first ? "" : first.error().message));
    REQUIRE(first);
    CHECK(kind_of(*first, "steps").held_out == 3);
    CHECK_THAT(kind_of(*first, "steps").before_pct, WithinRel(25.0, 1e-3));  // 1 / 0.8
    for (const std::string& model : models) {
        const double measured_s = 0.8 * forecast_s(shipped_weights, model);
        CHECK_THAT(forecast_s(site.options.out, model), WithinRel(measured_s, 0.01));
    }
}

// Half the forecast, at two batch sizes: nobody else's step says whether others take half as well.
TEST_CASE("steps of a single model correct it alone, and judge each other", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    std::vector<std::pair<MeasuredPass, double>> steps;
    for (const int batch : {8, 16})
        steps.push_back({{.model = "resnet50", .batch = batch, .pass = Pass::step},
                         0.5 * site.step_forecast(shipped_weights, "resnet50", batch).step_s});
    site.measure_steps(steps);
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    CHECK_THAT(site.said, Contains("they are of one model, which says nothing of others"));
    CHECK(kind_of(*refined, "steps").held_out == 2);
    CHECK_THAT(kind_of(*refined, "steps").before_pct, WithinRel(100.0, 1e-3));
    CHECK(kind_of(*refined, "steps").after_pct < 5.0);
    const auto weights = read_step_weights(site.options.out);
    REQUIRE(weights);
    const auto factor = [&](const char* model) {
        const auto workload = to_workload(*read_model_argument(model));
        REQUIRE(workload);
        return step_factor(weights->factors, gpu, workload->model.family, model_identity(workload->model));
    };
    CHECK_THAT(factor("resnet50"), WithinRel(0.5, 0.05));
    CHECK(factor("resnet101") == 1.0);
    CHECK(factor("vgg16") == 1.0);
}

TEST_CASE("steps that contradict each other or their GPU narrow nothing", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    const MeasuredPass resnet50{.model = "resnet50", .batch = 32, .pass = Pass::step};
    site.measure_steps({{resnet50, 5e-3}, {resnet50, 10.0}});
    CHECK_THAT(site.refine().error().message, Contains("nothing to refine by"));
    CHECK_THAT(site.said, Contains("steps.jsonl:1 (5 ms)") && Contains("steps.jsonl:2 (10 s)") &&
                              Contains("contradict one another"));

    // A step of 32 images cannot take 1 ms on a GPU of 91.6 TFLOP/s: 0.79 TFLOP, of which 3 x 3 windows save some.
    site.measure_steps({{resnet50, 1e-3}});
    REQUIRE_FALSE(site.refine());
    CHECK_THAT(site.said, Contains("steps.jsonl:1: a step of resnet50 (batch 32, fp32) on L40S in 1 ms: at the peak "
                                   "figures of the device's entry it takes"));
    CHECK(std::filesystem::exists(site.options.out) == false);
}

TEST_CASE("a step a thousand times its forecast is named when refining, not when reading", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure_steps({{{.model = "resnet18", .batch = 8, .pass = Pass::step}, 1e5},
                        {{.model = "resnet50", .batch = 8, .pass = Pass::step}, 1e5}});
    REQUIRE_FALSE(site.refine());
    CHECK_THAT(site.said, Contains("steps.jsonl:1: a step of resnet18") &&
                              Contains("steps.jsonl:2: a step of resnet50") &&
                              Contains("more than a factor of 1000 off its forecast"));
}

// Ratios of 1 and 1.8 beside those of two other models that are forecast right: chi^2 and spread as in
// step_factor_test.cpp.
TEST_CASE("steps of one model that lie apart widen its interval to hold them", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    const auto forecast_s = [&](const char* model, int batch) {
        return site.step_forecast(shipped_weights, model, batch).step_s;
    };
    std::vector<std::pair<MeasuredPass, double>> steps;
    for (const auto& [batch, ratio] : {std::pair{16, 1.0}, {32, 1.8}})
        steps.push_back(
            {{.model = "resnet50", .batch = batch, .pass = Pass::step}, ratio * forecast_s("resnet50", batch)});
    for (const char* model : {"vgg16", "resnet18"})
        steps.push_back({{.model = model, .batch = 32, .pass = Pass::step}, 1.3 * forecast_s(model, 32)});
    site.measure_steps(steps);
    const auto refined = site.refine();
    INFO((refined ? site.said : refined.error().message));
    REQUIRE(refined);
    const StepEstimate apart = site.step_forecast(site.options.out, "resnet50", 32);
    CHECK(apart.p05_s() < forecast_s("resnet50", 32));
    CHECK(apart.p95_s() > 1.8 * forecast_s("resnet50", 32));
    const StepEstimate together = site.step_forecast(site.options.out, "vgg16", 32);
    CHECK(together.log_sd < 0.5 * apart.log_sd);
}

// Judged by one other model, whose ratio is believed in part: that the rest is far off is no fault of the samples.
TEST_CASE("a device forty times off its forecasts is refined by two models", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    std::vector<std::pair<MeasuredPass, double>> steps;
    for (const char* model : {"resnet18", "resnet50"})
        steps.push_back({{.model = model, .batch = 8, .pass = Pass::step},
                         40 * site.step_forecast(shipped_weights, model, 8).step_s});
    site.measure_steps(steps);
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    CHECK_THAT(site.step_forecast(site.options.out, "resnet50", 8).step_s, WithinRel(steps[1].second, 0.05));
}

TEST_CASE("a single step is left out by name, with what to measure", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure_steps({{{.model = "resnet50", .batch = 8, .pass = Pass::step},
                         0.8 * site.step_forecast(shipped_weights, "resnet50", 8).step_s}});
    REQUIRE_FALSE(site.refine());
    CHECK_THAT(site.said, Contains("steps.jsonl:1: a step of resnet50 (batch 8, fp32) on L40S: left out") &&
                              Contains("measure another batch size or model"));
}

TEST_CASE("a GPU whose steps or calls were refined is no longer called unmeasured", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    const auto doubts = [&](const std::string& weights, const char* kind) {
        for (const LayerTiming& layer : site.step_forecast(weights, "vgg16", 8).layers)
            if (layer.kind == kind) return layer.doubts;
        FAIL("no layer " << kind);
        return Doubts{};
    };
    CHECK(doubts(shipped_weights, "linear").unseen_gpu);
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    REQUIRE(site.refine());
    CHECK_FALSE(doubts(site.options.out, "linear").unseen_gpu);
    CHECK_FALSE(doubts(site.options.out, "linear").unseen_calls);
    CHECK_FALSE(doubts(site.options.out, "conv2d").unseen_gpu);
    CHECK(doubts(site.options.out, "conv2d").unseen_calls);

    Site other;
    std::vector<std::pair<MeasuredPass, double>> steps;
    for (const char* model : {"resnet18", "resnet50"})
        steps.push_back({{.model = model, .batch = 8, .pass = Pass::step},
                         0.8 * other.step_forecast(shipped_weights, model, 8).step_s});
    other.measure_steps(steps);
    REQUIRE(other.refine());
    const LayerTiming conv = other.step_forecast(other.options.out, "resnet50", 8).layers.front();
    CHECK_FALSE(conv.doubts.unseen_gpu);
    CHECK(conv.doubts.unseen_calls);
}

// PCIe 4 moves 32 GB/s one way: of 2^28 bytes over 4 ranks three quarters take 6.3 ms at least.
TEST_CASE("collectives that cannot be or contradict one another are left out by name, and the others refine",
          "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    std::string text;
    const auto add = [&](std::uint64_t bytes, int ranks, double time_s) {
        text +=
            to_json_line(sample_of(MeasuredCollective{Collective::all_reduce, bytes, ranks, 1, "nccl"}, time_s)) + "\n";
    };
    for (int power = 10; power <= 26; power += 2) add(1u << power, 4, 1e-6 * (30.0 + (1u << power) / 9e3));
    add(1u << 28, 4, 3e-3);    // line 10
    add(1u << 11, 4, 1e6);     // a factor of 1000 off
    add(0, 4, 1e-5);           // no bytes
    add(1024, 1 << 24, 1e-3);  // ranks of no node
    add(1u << 13, 4, 31e-6);   // 14 and 15 contradict
    add(1u << 13, 4, 310e-6);
    site.options.samples = {site.folder.write("sweep.jsonl", text)};
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message) << site.said);
    REQUIRE(refined);
    CHECK(kind_of(*refined, "collectives").rows == 9);
    for (const char* left : {"sweep.jsonl:10: all_reduce (268435456 bytes, 4 ranks, nodes 1) on L40S in 3 ms",
                             "sweep.jsonl:11: ", "sweep.jsonl:12: ", "sweep.jsonl:13: ", "sweep.jsonl:14 (31 us), "})
        CHECK_THAT(site.said, Contains(left));

    text.clear();
    add(1u << 20, 4, 150e-6);
    site.options.samples = {site.folder.write("one.jsonl", text)};
    site.options.out = site.folder.path("one");
    REQUIRE(site.refine());
    CHECK_THAT(site.said, Contains("collectives on L40S: nothing held out can judge them"));
}
