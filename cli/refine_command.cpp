// SPDX-License-Identifier: GPL-2.0-or-later
// The words and figures of `dlcast refine`.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/refine.h"
#include "cli/weights_release.h"
#include "predictor/base/json.h"
#include "predictor/job/site_catalog.h"

namespace dlcast {
namespace {

struct Options {
    RefineOptions refine;
    std::string config;
    bool roll_back = false, json = false;
};

Value json_of(const RefinedErrors& errors) {
    Value kinds = Value::array();
    for (const RefinedKind& kind : errors) {
        Value entry = Value::object();
        entry.set("gpu", kind.gpu);
        entry.set("kind", kind.kind);
        entry.set("rows", kind.rows);
        entry.set("held_out", kind.held_out);
        entry.set("before_mape_pct", kind.before_pct);
        entry.set("after_mape_pct", kind.after_pct);
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
    return value;
}

void print_table(const Refined& refined, const std::string& out) {
    fmt::print("{:<24} {:<14} {:>8} {:>9} {:>10} {:>9}\n", "GPU", "kind", "measured", "held out", "before %",
               "after %");
    for (const RefinedKind& kind : refined.errors)
        fmt::print("{:<24} {:<14} {:>8} {:>9} {:>10.1f} {:>9.1f}\n", kind.gpu, kind.kind, kind.rows, kind.held_out,
                   kind.before_pct, kind.after_pct);
    fmt::print("weights {} in {}\n", refined.id, out);
}

Status run(Options options) {
    if (options.roll_back) {
        const auto version = roll_back_weights(options.refine.out);
        if (!version) return version.error();
        fmt::print("{} is {} again\n", options.refine.out, *version);
        return ok();
    }
    const auto config = read_site_config(options.config);
    if (!config) return config.error();
    const auto catalog = load_catalog(*config);
    if (!catalog) return catalog.error();
    if (options.refine.weights.empty()) options.refine.weights = config->weights_dir;
    options.refine.module_path = find_installation().module_file;
    const auto refined = refine(options.refine, *catalog);
    if (!refined) return refined.error();
    for (const std::string& note : refined->notes) fmt::print(stderr, "dlcast: {}\n", note);
    if (!refined->left.empty())
        fmt::print(stderr, "dlcast: left as before, for the error on held-out measurements would rise: {}\n",
                   worse_kinds(refined->left));
    if (!refined->known.empty())
        fmt::print(stderr, "dlcast: refined by these samples already: {}\n",
                   fmt::join(refined->known.begin(), refined->known.end(), ", "));
    if (const std::string worse = worse_kinds(refined->errors); !worse.empty())
        fmt::print(stderr, "dlcast: warning: published by --force although the error rises: {}\n", worse);
    if (options.json)
        fmt::print("{}\n", write_json(json_of(*refined, options.refine.out), 2));
    else if (!refined->published)
        fmt::print("nothing to do: weights {} stay as they are\n", refined->id);
    else
        print_table(*refined, options.refine.out);
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
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    verb->add_option("--config", options->config, "dlcast.toml, for the catalog and the weights")->type_name("FILE");
    verb->add_flag("--force", refine.force, "Publish even where the error on held-out measurements rises");
    verb->add_flag("--rollback", options->roll_back, "Turn --out back to the version before");
    verb->add_flag("--json", options->json, "Print one JSON object");
    add_accounting_options(*verb, refine.accounting);
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
