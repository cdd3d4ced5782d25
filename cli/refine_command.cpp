// SPDX-License-Identifier: GPL-2.0-or-later
// The words and figures of `dlcast refine`.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/number_option.h"
#include "cli/refine.h"
#include "cli/weights_release.h"
#include "predictor/base/json.h"
#include "predictor/job/site_catalog.h"
#include "predictor/samples/sample_point.h"

namespace dlcast {
namespace {

struct Options {
    RefineOptions refine;
    std::string config;
    bool roll_back = false, json = false;
};

Value json_of(const RefinedErrors& errors) {
    Value kinds = Value::array();
    for (const JudgedKind& kind : errors) {
        Value entry = Value::object();
        entry.set("gpu", kind.gpu);
        entry.set("kind", kind.kind);
        entry.set("rows", kind.rows);
        entry.set("held_out", kind.held_out);
        const bool judged = kind.held_out > 0;
        entry.set("before_mape_pct", judged ? Value(kind.before_pct) : Value());
        entry.set("after_mape_pct", judged ? Value(kind.after_pct) : Value());
        kinds.push(std::move(entry));
    }
    return kinds;
}

Value json_of(const Refined& refined, const std::string& out) {
    Value value = Value::object();
    value.set("weights", refined.id);
    value.set("out", out);
    value.set("published", refined.published);
    value.set("refined", json_of(refined.errors));
    value.set("left_as_before", json_of(refined.left));
    value.set("far_off", json_of(refined.far_off));
    return value;
}

void print_table(const Refined& refined, const std::string& out) {
    fmt::print("{:<24} {:<14} {:>8} {:>9} {:>10} {:>9}\n", "GPU", "kind", "measured", "held out", "before %",
               "after %");
    const auto percent = [](const JudgedKind& kind, double pct) {
        return kind.held_out > 0 ? fmt::format("{:.1f}", pct) : std::string("-");
    };
    for (const JudgedKind& kind : refined.errors)
        fmt::print("{:<24} {:<14} {:>8} {:>9} {:>10} {:>9}\n", kind.gpu, kind.kind, kind.rows, kind.held_out,
                   percent(kind, kind.before_pct), percent(kind, kind.after_pct));
    fmt::print("weights {} in {}\n", refined.id, out);
}

void say(const std::string& line) { fmt::print(stderr, "dlcast: {}\n", line); }

Status run(Options options) {
    if (options.roll_back) {
        const auto version = roll_back_weights(options.refine.out, say);
        if (!version) return version.error();
        if (options.json) {
            Value value = Value::object();
            value.set("version", *version);
            value.set("out", options.refine.out);
            fmt::print("{}\n", write_json(value, 2));
        } else {
            fmt::print("{} is {} again\n", shown_path(options.refine.out), *version);
        }
        return ok();
    }
    const auto config = read_site_config(options.config);
    if (!config) return config.error();
    const auto catalog = load_catalog(*config);
    if (!catalog) return catalog.error();
    if (options.refine.weights.empty()) options.refine.weights = config->weights_dir;
    options.refine.entries_file = config->site_gpus_file.empty() ? config->gpus_file : config->site_gpus_file;
    options.refine.module_path = find_installation().module_file;
    options.refine.say = say;
    const auto refined = refine(options.refine, *catalog);
    if (!refined) return refined.error();
    if (!refined->left.empty())
        say("left as before, for the error on held-out measurements would rise: " + worse_kinds(refined->left));
    if (!refined->far_off.empty())
        say("left as before, for forecasts of what was held out would still be off: " +
            far_off_kinds(refined->far_off));
    if (!refined->known.empty())
        say(fmt::format("refined by these samples already: {}",
                        fmt::join(refined->known.begin(), refined->known.end(), ", ")));
    if (const std::string worse = worse_kinds(refined->errors); !worse.empty())
        say("warning: published by --force although the error rises: " + worse);
    if (options.json)
        fmt::print("{}\n", write_json(json_of(*refined, options.refine.out), 2));
    else if (refined->waiting)
        fmt::print("nothing to do: {} holds weights {} already; name it in dlcast.toml, [files] weights\n",
                   shown_path(options.refine.out), refined->id);
    else if (!refined->published)
        fmt::print("nothing to do: weights {} stay as they are\n", refined->id);
    else
        print_table(*refined, shown_path(options.refine.out));
    return ok();
}

}  // namespace

void add_refine(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("refine", "Adapt weights to a site by its measurements and finished jobs");
    const auto options = std::make_shared<Options>();
    RefineOptions& refine = options->refine;
    verb->add_option("--samples", refine.samples, "Files that dlcast-profile and dlcast-sweep wrote")
        ->type_name("FILE");
    verb->add_flag("--jobs", refine.jobs, "Finished jobs too: their forecasts against their run times, from sacct");
    verb->add_option("--weights", refine.weights, "Weights to start from, instead of dlcast.toml's")->type_name("DIR");
    verb->add_option("--out", refine.out, "Link to publish; dlcast.toml names it as weights")
        ->type_name("DIR")
        ->required();
    verb->add_option("--fit-sizes", refine.fit_sizes, "Sizes kept of each table of collectives; the others judge")
        ->type_name("K")
        ->transform(whole_number(1, 64))
        ->capture_default_str();
    verb->add_option("--config", options->config, "dlcast.toml, for the catalog and the weights")->type_name("FILE");
    verb->add_flag("--force", refine.force,
                   "Publish even where the error on held-out measurements rises, or --out holds other refinements");
    CLI::Option* const roll_back =
        verb->add_flag("--rollback", options->roll_back, "Turn --out back to the version before");
    verb->add_flag("--json", options->json, "Print one JSON object");
    add_accounting_options(*verb, refine.accounting);
    for (CLI::Option* option : verb->get_options()) {
        const bool goes_with = option->check_name("--out") || option->check_name("--config") ||
                               option->check_name("--json") || option->check_name("--help");
        if (!goes_with && option != roll_back) roll_back->excludes(option);
    }
    verb->callback([&exit_code, options] {
        RefineOptions& given = options->refine;
        if (!given.accounting.sacct_file.empty()) given.jobs = true;
        if (!options->roll_back && given.samples.empty() && !given.jobs)
            throw CLI::RequiredError("--samples, --jobs or --rollback");
        const auto status = run(*options);
        exit_code = status ? exit_done : report(status.error());
    });
}

}  // namespace dlcast
