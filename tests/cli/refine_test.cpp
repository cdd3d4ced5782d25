// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast refine` on samples whose times follow from the shipped forecast.
#include "cli/refine.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "cli/collectives_evaluation.h"
#include "cli/installation.h"
#include "cli/weights_release.h"
#include "predictor/base/text.h"
#include "predictor/device/usual_node.h"
#include "predictor/job/site_state.h"
#include "predictor/step/nccl_model.h"
#include "predictor/step/step_anchor.h"
#include "tests/accounting/zone.h"
#include "tests/scratch_folder.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
namespace fs = std::filesystem;

namespace {

const std::string module_file = DLCAST_BINARY_DIR "/predictor/torch/dlcast_torch.so";
const std::string shipped_weights = DLCAST_SOURCE_DIR "/etc/weights";
const char* const gpu = "L40S";  // trained nothing

bool has_torch() {
    if (fs::exists(module_file)) return true;
    std::puts("SKIPPED: this build has no dlcast_torch.so");
    return false;
}

TimingSample sample_of(SamplePoint point, double median_s) {
    TimingSample out;
    out.device.name = gpu;
    out.device.units = 142;
    out.versions = {{"backend", "test"}};
    out.host = "node";
    out.point = std::move(point);
    out.repetitions = 10;
    out.median_s = out.fastest_s = out.slowest_s = median_s;
    return out;
}

// A site that measured products; `times` makes of each forecast the measured time.
class Site {
public:
    Site() : catalog_(*shipped_catalog()), device_(*catalog_.find(gpu)) {
        for (std::int64_t m = 256; m <= 8192; m *= 2)
            for (std::int64_t n = 256; n <= 4096; n *= 2) operators_.push_back(test::linear(m, 1024, n));
        options.weights = shipped_weights;
        options.out = folder.path("weights");
        options.module_path = module_file;
    }

    /// Measured from here on, beside the products.
    void add(const std::vector<Operator>& more) { operators_.insert(operators_.end(), more.begin(), more.end()); }
    void measure(const std::function<double(std::size_t, double)>& times) {
        std::string text;
        const auto forecast_s = forecasts(shipped_weights);
        for (std::size_t i = 0; i < operators_.size(); ++i)
            text += to_json_line(sample_of(operators_[i], times(i, forecast_s[i]))) + "\n";
        options.samples = {folder.write("samples.jsonl", text)};
    }
    std::vector<double> forecasts(const std::string& weights) const {
        const auto model = open_refined_model(module_file, weights);
        REQUIRE(model);
        std::vector<OperatorQuery> queries;
        for (const Operator& op : operators_) queries.push_back({&op, &device_});
        std::vector<double> out;
        const auto times = (*model)->times(queries);
        REQUIRE(times);
        for (const OperatorTime& time : *times) out.push_back(time.median_s);
        return out;
    }
    Result<Refined> refine() const { return dlcast::refine(options, catalog_); }
    const DeviceCatalog& catalog() const { return catalog_; }
    const Device& device() const { return device_; }

    ScratchFolder folder;
    RefineOptions options;

private:
    DeviceCatalog catalog_;
    Device device_;
    std::vector<Operator> operators_;
};

const RefinedKind& kind_of(const Refined& refined, const std::string& kind) {
    for (const RefinedKind& entry : refined.errors)
        if (entry.kind == kind) return entry;
    FAIL("no kind " << kind);
    return refined.errors.front();
}

}  // namespace

TEST_CASE("an error without bounds is worse than any", "[refine]") {
    const double infinite = std::numeric_limits<double>::infinity();
    RefinedKind kind;
    kind.gpu = gpu;
    kind.kind = "linear";
    kind.rows = kind.held_out = 5;
    kind.before_pct = kind.after_pct = 10.0;
    CHECK(worse_kinds({kind}).empty());
    kind.before_pct = kind.after_pct = infinite;
    CHECK_THAT(worse_kinds({kind}), Contains("linear on L40S"));
    kind.before_pct = 10.0;
    kind.after_pct = std::nan("");
    CHECK_THAT(worse_kinds({kind}), Contains("linear on L40S"));
}

TEST_CASE("a GPU whose calls take half as long again is forecast so, by its published weights", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    const RefinedKind& linear = kind_of(*refined, "linear");
    CHECK(linear.rows == 30);
    CHECK_THAT(linear.before_pct, WithinRel(100.0 / 3.0, 1e-3));  // 1 / 1.5 is a third too short
    CHECK(linear.after_pct < 4.0);
    const auto before_s = site.forecasts(shipped_weights), after_s = site.forecasts(site.options.out);
    for (std::size_t i = 0; i < before_s.size(); ++i) CHECK_THAT(after_s[i], WithinRel(1.5 * before_s[i], 0.1));

    const auto text = read_file(site.options.out + "/manifest.toml", 1 << 20);
    REQUIRE(text);
    const auto manifest = parse_weights_manifest(*text, "manifest.toml");
    REQUIRE(manifest);
    REQUIRE(manifest->refined.size() == 1);
    CHECK(manifest->refined[0].gpu == gpu);
    CHECK(manifest->refined[0].held_out == 30);
    CHECK_THAT(manifest->refined[0].after_pct, WithinAbs(linear.after_pct, 0.005));  // two digits are written
}

TEST_CASE("measurements that say nothing lasting are refused, unless told to", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t i, double forecast_s) { return forecast_s * (i % 2 == 0 ? 1.4 : 1 / 1.4); });
    const auto refused = site.refine();
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Contains("linear on L40S") && Contains("--force"));
    CHECK_FALSE(fs::exists(fs::symlink_status(site.options.out)));
    site.options.force = true;
    CHECK(site.refine());
}

// Products and norms take 1.5 times their forecast; softmax, of one group with the norms, strays without a rule.
TEST_CASE("a kind that would get worse stays as it was, and the others are published", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    std::vector<Operator> softmax, norms;
    for (std::int64_t rows = 1024; rows <= 65536; rows *= 2)
        for (std::int64_t cols = 512; cols <= 4096; cols *= 2) {
            softmax.push_back(test::row_wise(OperatorKind::softmax, rows, cols));
            norms.push_back(test::row_wise(OperatorKind::layer_norm, rows, cols));
        }
    site.add(norms);
    site.add(softmax);
    const std::size_t first_softmax = 30 + norms.size();
    site.measure([&](std::size_t i, double forecast_s) {
        return forecast_s * (i < first_softmax ? 1.5 : i % 2 == 0 ? 1.4 : 1 / 1.4);
    });
    const auto refined = site.refine();
    INFO((refined ? "" : refined.error().message));
    REQUIRE(refined);
    REQUIRE(refined->left.size() == 1);
    CHECK(refined->left[0].kind == "softmax");
    CHECK(refined->errors.size() == 2);
    CHECK(kind_of(*refined, "linear").after_pct < 4.0);
    const auto before_s = site.forecasts(shipped_weights), after_s = site.forecasts(site.options.out);
    for (std::size_t i = 0; i < before_s.size(); ++i)
        CHECK_THAT(after_s[i], i < first_softmax ? WithinRel(1.5 * before_s[i], 0.15) : WithinRel(before_s[i], 1e-6));
    const auto text = read_file(site.options.out + "/manifest.toml", 1 << 20);
    REQUIRE(text);
    CHECK(parse_weights_manifest(*text, "manifest.toml")->refined.size() == 2);

    site.options.weights = site.options.out;  // once more: what is known stays, and so does what got worse
    const auto again = site.refine();
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    CHECK_FALSE(again->published);
    CHECK(again->known == KnownParts{"linear on L40S", "layer_norm on L40S"});
    CHECK(again->left.size() == 1);
}

TEST_CASE("samples that refined the weights do not judge them: nothing to do, until more are measured",
          "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    // The first 30 take half as long again, more or less; thin products, measured later, twice as long.
    const auto slower = [](std::size_t i, double forecast_s) {
        return (i % 2 == 0 ? 0.97 : 1.03) * (i < 30 ? 1.5 : 2.0) * forecast_s;
    };
    site.measure(slower);
    const auto first = site.refine();
    REQUIRE(first);
    CHECK(first->published);
    site.options.weights = site.options.out;
    const auto again = site.refine();
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    CHECK_FALSE(again->published);
    CHECK(again->errors.empty());
    CHECK(again->known == KnownParts{"linear on L40S"});
    CHECK(again->id == first->id);
    CHECK_FALSE(fs::exists(site.options.out + ".v2"));

    std::vector<Operator> thin;
    for (std::int64_t m = 512; m <= 8192; m *= 2)
        for (std::int64_t n = 512; n <= 4096; n *= 2) thin.push_back(test::linear(m, 64, n));
    site.add(thin);
    site.measure(slower);
    const auto with_more = site.refine();
    INFO((with_more ? "" : with_more.error().message));
    REQUIRE(with_more);
    CHECK(with_more->published);
    CHECK(kind_of(*with_more, "linear").rows == 50);
    CHECK(kind_of(*with_more, "linear").held_out == 20);  // those that the first did not see
    CHECK(fs::exists(site.options.out + ".v2"));
}

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

TEST_CASE("a site's state follows published weights, and the way back", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.measure([](std::size_t, double forecast_s) { return 1.5 * forecast_s; });
    REQUIRE(site.refine());
    site.folder.write("dlcast.toml",
                      fmt::format("[files]\ngpus = \"{}/etc/gpus.toml\"\nweights = \"weights\"\n", DLCAST_SOURCE_DIR));
    const ForecasterPaths paths{site.folder.path("dlcast.toml"), module_file, ""};
    const auto first = load_site(paths, nullptr, 0);
    const std::string first_id = first->model->weights_id();
    CHECK_THAT(first_id, Contains("+"));
    CHECK_FALSE(is_outdated(*first, 0));

    site.measure([](std::size_t, double forecast_s) { return 2.0 * forecast_s; });
    site.options.weights = site.options.out;
    REQUIRE(site.refine());
    REQUIRE(is_outdated(*first, 0));
    const auto second = load_site(paths, first.get(), 0);
    CHECK(second->model->weights_id() != first_id);
    REQUIRE(roll_back_weights(site.options.out));
    REQUIRE(is_outdated(*second, 0));
    CHECK(load_site(paths, second.get(), 0)->model->weights_id() == first_id);
}

// The same table through files of the sweep and through `evaluate collectives --fit-sizes 3`.
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

// Six models of one kind take 1.2 times their forecast; a job by other weights, a killed and a short one do not count.
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
    CHECK_THAT(refined->notes.back(), Contains("1 more were forecast by other weights"));
}

TEST_CASE("nothing to refine by, and an unknown GPU, are refused with the remedy", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    site.options.samples = {site.folder.write("none.jsonl", "")};
    CHECK_THAT(site.refine().error().message, Contains("nothing to refine by"));
    TimingSample sample = sample_of(test::linear(1, 2, 3), 1e-3);
    sample.device.name = "Z9000";
    site.options.samples = {site.folder.write("unknown.jsonl", to_json_line(sample) + "\n")};
    CHECK_THAT(site.refine().error().message, Contains("Z9000") && Contains("gpus.toml"));
}

// Steps that took 0.8 of their forecast. Each is taken over by 0.0608 / (0.0608 + 0.05^2), what is left by the others'
// share.
TEST_CASE("measured steps are forecast as measured", "[refine][torch]") {
    if (!has_torch()) return;
    Site site;
    WorkloadOverrides eight;
    eight.batch_size = 8;
    const auto forecast_s = [&](const std::string& weights, const std::string& model) {
        const auto workload = to_workload(*read_model_argument(model), eight);
        REQUIRE(workload);
        Allocation allocation;
        allocation.device = site.device();
        allocation.intra_node = intra_node_link(allocation.device);
        const std::vector<StepQuery> queries{{&*workload, allocation}};
        const auto steps = read_step_weights(weights);
        REQUIRE(steps);
        auto estimates = estimate_steps(queries, **open_refined_model(module_file, weights), *steps);
        REQUIRE(estimates);
        REQUIRE(anchor_steps(queries, site.catalog(), *steps, *estimates));
        return estimates->front().step_s;
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
