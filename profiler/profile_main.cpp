// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast-profile`: measures the layers of models on one node.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "predictor/base/text.h"
#include "profiler/known_device.h"
#include "profiler/process_age.h"
#include "profiler/profile_options.h"
#include "profiler/report.h"
#include "profiler/usage.h"

namespace {

using namespace dlcast;

struct Options {
    ModelOptions models;
    std::string device = "cpu", plan, budget = "10min", output = "samples.jsonl", gpus;
    double ci_pct = 2.0;
    bool json = false;
};

// A model given for its points would be called a plan with faults.
Error not_a_plan(const std::string& file, const Error& fault) {
    if (!read_model_argument(file)) return fault;
    return invalid_argument(
        fmt::format("--plan: '{0}' is a model, where points to measure are needed; write `dlcast-profile {0}`, or give "
                    "a plan that `dlcast calibrate` wrote",
                    shown_path(file)));
}

// In one line, whatever a path in it may hold.
void say(const std::string& text) { fmt::print(stderr, "dlcast-profile: {}\n", one_line(text, std::string::npos)); }

int report(const Error& error) {
    end_progress();
    say("error: " + error.message);
    return 1;
}

int run(const Options& o) {
    const auto budget_s = parse_budget_s(o.budget);
    if (!budget_s) return report(budget_s.error());
    const auto models = read_models(o.models);
    if (!models) return report(models.error());
    std::vector<SamplePoint> points = points_of(*models);
    if (!o.plan.empty()) {
        const auto plan = read_plan(o.plan);
        if (!plan) return report(not_a_plan(o.plan, plan.error()));
        points = *plan;
    }
    std::string note;
    auto file = SampleFile::open(o.output, note);
    if (!file) return report(file.error());
    if (!note.empty()) say(note);
    auto device = o.device == "cuda" ? open_cuda(0) : open_cpu();
    if (!device) return report(device.error());

    const double opened_s = process_age_s();
    const auto written =
        describe_device(*device, o.gpus, o.output + ".gpus.toml", share_of_figures * (*budget_s - opened_s));
    if (!written) return report(written.error());
    if (!written->empty())
        say(
            fmt::format("{} is no known device; its entry is in {}, measured in {:.1f} s of the budget. To measure it "
                        "anew, on an idle host, remove that file",
                        device->backend->device().name, *written, process_age_s() - opened_s));
    ProfileOptions options;
    const double begun_s = process_age_s();  // libraries were loaded, the device was described
    options.budget_s = *budget_s - begun_s;
    options.policy.relative_ci = o.ci_pct / 100.0;
    options.host = host_name();
    auto result = profile(*device->backend, *models, points, options, *file, progress_on_stderr("dlcast-profile"));
    if (!result) return report(result.error());
    result->spent_s += begun_s;
    end_progress();
    if (result->measured == 0 && result->left > 0)
        say(fmt::format(
            "no point was measured: of the budget of {} the program's start took {:.1f} s, the device's "
            "own figures {:.1f} s, {}; give a larger --budget",
            o.budget, opened_s, begun_s - opened_s,
            result->lost_s > 0.0 ? fmt::format("points that could not end within it {:.1f} s", result->lost_s)
                                 : "and what was left is too short for a point"));
    std::vector<ModelSums> sums;
    for (const ProfiledModel& model : *models)
        sums.push_back({model.name, layer_sums(model, *device->backend, options, *file)});
    fmt::print("{}", o.json ? profile_json(*result, sums, o.output) : profile_text(*result, sums, o.output));
    if (std::fflush(stdout) != 0) return report(unavailable("cannot write the result to standard output"));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Measures the layers of models on this machine, forward, backward and update, into timing samples.",
                 "dlcast-profile"};
    app.set_version_flag("--version", "dlcast-profile " DLCAST_VERSION);
    Options o;
    app.add_option("MODEL", o.models.models, "zoo name, file or directory, as `dlcast predict` takes it");
    app.add_option("--device", o.device, "what to measure on")->check(device_fault)->capture_default_str();
    app.add_option("--batch-size", o.models.batch_size, "samples of a step (the model's own)")
        ->check(CLI::Range(1, 1 << 24));
    app.add_option("--seq-len", o.models.seq_len, "tokens of a sample")->check(CLI::Range(1, 1 << 24));
    app.add_option("--image-size", o.models.image_size, "pixels of a side")->check(CLI::Range(1, 1 << 16));
    app.add_option("--precision", o.models.precision, "fp32, tf32, amp, fp16, bf16 (the model's own)");
    app.add_option("--optimizer", o.models.optimizer, "of the update (the model's own)");
    app.add_option("--plan", o.plan, "measure the points of this file instead (docs/timing-samples.md)");
    app.add_option("--budget", o.budget, "time to spend: 90s, 10min, 1h; a number alone is seconds")
        ->capture_default_str();
    app.add_option("--ci", o.ci_pct, "a point ends when its median is known to so many percent")
        ->check([](const std::string& text) { return number_fault(text, 0.1, 50.0); })
        ->capture_default_str();
    app.add_option("-o,--output", o.output, "file of samples; points that it holds are not measured again")
        ->capture_default_str();
    app.add_option("--gpus", o.gpus, "a site's own catalog of devices");
    app.add_flag("--json", o.json, "print one JSON object");
    try {
        app.parse(argc, argv);
        if (o.models.models.empty() && o.plan.empty()) throw CLI::RequiredError("MODEL or --plan");
        if (const auto words = check_words(o.models, o.budget); !words)
            throw CLI::ValidationError(words.error().message);
    } catch (const CLI::ParseError& fault) {
        if (fault.get_exit_code() == 0) return app.exit(fault);  // --help, --version
        say("error: " + wrong_usage(app, fault));
        say("see `dlcast-profile --help`");
        return 2;
    }
    try {
        return run(o);
    } catch (const std::exception& fault) {  // of a library
        return report(unavailable(fault.what()));
    }
}
