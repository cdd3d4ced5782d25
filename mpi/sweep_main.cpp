// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast-sweep`: measures layers, collectives and training steps across MPI ranks.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "mpi/sweep_report.h"
#include "predictor/base/text.h"
#include "profiler/cpu_facts.h"
#include "profiler/known_device.h"
#include "profiler/process_age.h"
#include "profiler/profile_options.h"
#include "profiler/usage.h"

namespace {

using namespace dlcast;

struct Options {
    ModelOptions models;
    std::string device = "cpu", budget = "10min", output = "sweep.jsonl", gpus;
    std::vector<std::string> collectives;
    std::uint64_t least_bytes = 1024, most_bytes = 64 << 20;
    double timeout_s = 120.0, ci_pct = 2.0;
};

void say(const Ranks& ranks, const std::string& text) {
    if (ranks.rank() == 0) fmt::print(stderr, "dlcast-sweep: {}\n", one_line(text, std::string::npos));
}

// Ranks of one host share its CPUs, unless mpirun has bound each to some of them.
void share_threads(const Ranks& ranks) {
    const int cpus = read_cpu_facts().cpus;
    const bool bound = cpus < ::sysconf(_SC_NPROCESSORS_ONLN);
    const int threads = bound ? cpus : std::max(1, cpus / ranks.ranks_here());
    ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 0);
}

std::vector<Collective> chosen(const std::vector<std::string>& names) {
    std::vector<Collective> out;
    for (const Collective c : swept_collectives) {
        const std::string name(collective_names[static_cast<std::size_t>(c)]);
        if (names.empty() || std::find(names.begin(), names.end(), name) != names.end()) out.push_back(c);
    }
    return out;
}

int run(Ranks& ranks, const Options& o) {
    // What any rank finds wrong here, all do: rank 0 alone says it.
    const auto refuse = [&](const Error& error) {
        say(ranks, "error: " + error.message);
        return 1;
    };
    if (ranks.size() == 1 && o.models.models.empty()) {
        say(ranks,
            "error: one rank has no collectives and no MODEL is named; name one, or start more with mpirun -np N");
        return 2;
    }
    const auto budget_s = parse_budget_s(o.budget);
    if (!budget_s) return refuse(budget_s.error());
    const auto models = read_models(o.models);
    if (!models) return refuse(models.error());
    share_threads(ranks);
    auto device = o.device == "cuda" ? open_cuda(ranks.rank_here()) : open_cpu();
    if (!device) ranks.fail(device.error().message);

    std::unique_ptr<SampleFile> file;
    std::string fault;
    if (ranks.rank() == 0) {
        std::string note;
        auto opened = SampleFile::open(o.output, note);
        if (!opened) ranks.fail(opened.error().message);
        file = std::make_unique<SampleFile>(std::move(*opened));
        if (!note.empty()) say(ranks, note);
        const auto written =
            describe_device(*device, o.gpus, o.output + ".gpus.toml", share_of_figures * (*budget_s - process_age_s()));
        if (!written) ranks.fail(written.error().message);
        if (!written->empty())
            say(ranks,
                fmt::format("{} is no known device; its entry is in {}", device->backend->device().name, *written));
    }
    ranks.set_patience(o.timeout_s, fmt::format("samples so far are in {}", o.output));
    ranks.barrier("the start");

    SweepOptions options;
    options.relative_ci = o.ci_pct / 100.0;
    options.least_bytes = o.least_bytes;
    options.most_bytes = o.most_bytes;
    options.collectives = chosen(o.collectives);
    const SweepContext context{ranks, *device->backend, file.get(), options};
    SweepResults results;
    // The parts that are still to come share what is left of the time, which began with the program's start. What one
    // does not use is the others'.
    const double end_s = steady_now_s() + *budget_s - process_age_s();
    const bool with_collectives = ranks.size() > 1, with_steps = o.device == "cpu" && !models->empty();
    int parts = 1 + with_collectives + with_steps;
    const auto share_s = [&] { return (end_s - steady_now_s()) / parts--; };
    results.layers = sweep_layers(context, *models, share_s());
    if (with_collectives) {
        const auto make = [&](std::uint64_t most_bytes) {
            return o.device == "cuda"
                       ? make_nccl_collectives(ranks, most_bytes)
                       : Result<std::unique_ptr<CollectiveRunner>>(make_mpi_collectives(ranks, most_bytes));
        };
        results.collectives = sweep_collectives(context, make, share_s());
    }
    if (with_steps) results.steps = sweep_steps(context, *models, share_s());
    if (ranks.rank() == 0) fmt::print("{}", sweep_text(ranks, results, *models, *file, o.output));
    ranks.barrier("the end");
    return 0;
}

void add_options(CLI::App& app, Options& o) {
    std::vector<std::string> names;
    for (const Collective c : swept_collectives) names.emplace_back(collective_names[static_cast<std::size_t>(c)]);
    app.set_version_flag("--version", "dlcast-sweep " DLCAST_VERSION);
    app.add_option("MODEL", o.models.models, "zoo name, file or directory, as `dlcast predict` takes it");
    app.add_option("--device", o.device, "what to measure on")->check(device_fault)->capture_default_str();
    app.add_option("--batch-size", o.models.batch_size, "samples of a rank's step (the model's own)")
        ->check(CLI::Range(1, 1 << 24));
    app.add_option("--seq-len", o.models.seq_len, "tokens of a sample")->check(CLI::Range(1, 1 << 24));
    app.add_option("--image-size", o.models.image_size, "pixels of a side")->check(CLI::Range(1, 1 << 16));
    app.add_option("--precision", o.models.precision, "fp32, tf32, amp, fp16, bf16 (the model's own)");
    app.add_option("--optimizer", o.models.optimizer, "of the update (the model's own)");
    app.add_option("--collective", o.collectives, "these alone (all)")->check(CLI::IsMember(names));
    app.add_option("--min-bytes", o.least_bytes, "of collectives")
        ->check(CLI::Range(4, 1 << 30))
        ->capture_default_str();
    app.add_option("--max-bytes", o.most_bytes, "of collectives")->check(CLI::Range(4, 1 << 30))->capture_default_str();
    app.add_option("--budget", o.budget, "time to spend: 90s, 10min, 1h; a number alone is seconds")
        ->capture_default_str();
    app.add_option("--ci", o.ci_pct, "a point ends when its median is known to so many percent")
        ->check([](const std::string& text) { return number_fault(text, 0.1, 50.0); })
        ->capture_default_str();
    app.add_option("--timeout", o.timeout_s, "seconds after which a rank that does not come is said to hang")
        ->check([](const std::string& text) { return number_fault(text, 1.0, 86400.0); })
        ->capture_default_str();
    app.add_option("-o,--output", o.output, "file of samples; points that it holds are not measured again")
        ->capture_default_str();
    app.add_option("--gpus", o.gpus, "a site's own catalog of devices");
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Measures layers, collectives and data-parallel training steps across the ranks of an MPI run.",
                 "dlcast-sweep"};
    Options o;
    add_options(app, o);
    // Options are read before MPI starts, so that --help needs no mpirun.
    try {
        app.parse(argc, argv);
        if (const auto words = check_words(o.models, o.budget); !words)
            throw CLI::ValidationError(words.error().message);
        if (o.least_bytes > o.most_bytes)
            throw CLI::ValidationError(
                fmt::format("--min-bytes {} is above --max-bytes {}; give a smaller one", o.least_bytes, o.most_bytes));
    } catch (const CLI::ParseError& fault) {
        if (fault.get_exit_code() == 0) return app.exit(fault);
        fmt::print(stderr, "dlcast-sweep: error: {}\ndlcast-sweep: see `dlcast-sweep --help`\n",
                   one_line(wrong_usage(app, fault), std::string::npos));
        return 2;
    }
    const auto ranks = Ranks::start(&argc, &argv);
    if (!ranks) {
        fmt::print(stderr, "dlcast-sweep: error: {}\n", ranks.error().message);
        return 1;
    }
    try {
        return run(**ranks, o);
    } catch (const std::exception& fault) {  // of a library
        (*ranks)->fail(fault.what());
    }
}
