// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast train`: weights from tables of measured operators.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/number_option.h"
#include "cli/train.h"
#include "cli/train_collectives.h"
#include "cli/train_steps.h"

namespace dlcast {
namespace {

// A name that is no GPU would leave nothing out, and the weights would be taken for those of a held-out GPU.
Status check_gpus(const std::vector<std::string>& names, const DeviceCatalog& catalog) {
    for (const std::string& name : names) {
        std::string assumed;
        const auto device = catalog.find_or_typical(name, assumed);
        if (!device) return Error{device.error().fault, fmt::format("--exclude-gpu: {}", device.error().message)};
    }
    return ok();
}

void tell_replaced(const std::string& out, const char* file) {
    const std::string path = fmt::format("{}/{}", out, file);
    if (std::filesystem::exists(path)) fmt::print(stderr, "dlcast: {} is there and will be replaced\n", path);
}

int run_train(TrainOptions options) {
    const auto catalog = shipped_catalog();
    if (!catalog) return report(catalog.error());
    if (const auto status = check_gpus(options.exclusions.gpus, *catalog); !status) return report(status.error());
    tell_replaced(options.out, manifest_file);
    options.module_path = find_installation().module_file;
    const auto manifest = train_weights(options, *catalog);
    if (!manifest) return report(manifest.error());
    fmt::print("{:<32}{:>8}{:>9}{:>10}{:>12}\n", "held-out rows", "rows", "MAPE %", "median %", "roofline %");
    for (const HeldOutError& h : manifest->held_out) {
        fmt::print("{:<32}{:>8}{:>9.1f}{:>10.1f}{:>12.1f}\n", h.source + "/" + h.op, h.rows, h.mape_pct,
                   h.median_ape_pct, h.roofline_mape_pct);
    }
    fmt::print("weights {} in {}\n", manifest->id, options.out);
    return exit_done;
}

int run_train_collectives(const TrainCollectivesOptions& options) {
    const auto catalog = shipped_catalog();
    if (!catalog) return report(catalog.error());
    const auto links = shipped_links();
    if (!links) return report(links.error());
    tell_replaced(options.out, collectives_file);
    const auto fitted = train_collectives(options, *links, *catalog);
    if (!fitted) return report(fitted.error());
    fmt::print("constants of collectives, {}, in {}/{}\n", fitted->provenance, options.out, collectives_file);
    return exit_done;
}

int run_train_steps(TrainStepsOptions options) {
    const auto catalog = shipped_catalog();
    if (!catalog) return report(catalog.error());
    if (const auto status = check_gpus(options.exclusions.gpus, *catalog); !status) return report(status.error());
    tell_replaced(options.out, step_weights_file);
    auto collectives = collectives_of(options.out);
    if (!collectives) return report(collectives.error());
    options.collectives = std::move(*collectives);
    const auto weights = train_steps(options, *catalog);
    if (!weights) return report(weights.error());
    fmt::print("{:<32}{:>8}{:>9}{:>10}{:>9}\n", "steps, refitted without each", "cases", "MAPE %", "median %", "p90 %");
    for (const StepHeldOut& h : weights->held_out)
        fmt::print("{:<32}{:>8}{:>9.1f}{:>10.1f}{:>9.1f}\n", h.left_out, h.cases, h.mape_pct, h.median_ape_pct,
                   h.p90_ape_pct);
    fmt::print("constants of the step-time model in {}/{}\n", options.out, step_weights_file);
    return exit_done;
}

}  // namespace

void add_train(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("train", "Train weights from measured operators and steps");
    const auto options = std::make_shared<TrainOptions>();
    verb->add_option("--ops", options->ops, "Tables of measured operators, CSV or CSV.gz")->type_name("FILE");
    const auto steps = std::make_shared<TrainStepsOptions>();
    verb->add_option("--steps", steps->files, "Tables of measured training steps, CSV or CSV.gz")->type_name("FILE");
    const auto collectives = std::make_shared<TrainCollectivesOptions>();
    const auto tables = std::make_shared<std::vector<std::string>>();
    verb->add_option("--collectives", *tables, "Tables of measured collectives, CSV or CSV.gz")
        ->type_name("SETUPS MEASURED")
        ->expected(2);
    verb->add_option("--exclude-setup", collectives->excluded_setups, "Set-ups whose collectives are left out")
        ->type_name("NAME");
    CLI::Option* const models =
        verb->add_option("--end-to-end", options->end_to_end, "Table of measured whole models, CSV or CSV.gz")
            ->type_name("FILE");
    models->needs(verb->add_option("--opgraphs", options->opgraphs, "Table of the operators that they consist of")
                      ->type_name("FILE")
                      ->needs(models));
    verb->add_option("--exclude-family", steps->exclusions.families, "Families of models that are left out")
        ->type_name("NAME");
    verb->add_option("--exclude-super-family", steps->exclusions.super_families,
                     "BERT, GPT, MPT, Llama, CNN, ...: kinds of models that are left out")
        ->type_name("NAME");
    verb->add_flag("!--no-validation", steps->validate, "Leave out the refits that tell how far forecasts spread");
    verb->add_option("--exclude-gpu", options->exclusions.gpus, "GPUs whose rows are left out")->type_name("NAME");
    verb->add_option("--exclude-source", options->exclusions.sources, "Sources whose rows are left out")
        ->type_name("NAME");
    verb->add_option("--seed", options->seed, "The same seed gives the same weights")
        ->transform(whole_number(0, largest_seed))
        ->capture_default_str();
    verb->add_option("--members", options->members, "Networks that are averaged")
        ->transform(whole_number(1, 16))
        ->capture_default_str();
    verb->add_option("--effort", options->effort, "Multiplies the epochs")
        ->check(number_between(0.01, 100.0))
        ->capture_default_str();
    verb->add_option("--out", options->out, "Weights directory to write")->type_name("DIR")->required();
    verb->callback([&exit_code, options, steps, collectives, tables] {
        steps->exclusions.gpus = options->exclusions.gpus;
        options->exclusions.families = steps->exclusions.families;
        options->exclusions.super_families = steps->exclusions.super_families;
        steps->exclusions.sources = options->exclusions.sources;
        steps->out = options->out;
        if (options->ops.empty() && steps->files.empty() && tables->empty())
            throw CLI::RequiredError("--ops, --steps or --collectives");
        if (!options->end_to_end.empty() && options->ops.empty()) throw CLI::RequiredError("--ops (with --end-to-end)");
        exit_code = exit_done;
        if (!options->ops.empty()) exit_code = run_train(*options);
        if (exit_code == exit_done && !tables->empty()) {
            collectives->setups = tables->front();
            collectives->measured = tables->back();
            collectives->excluded_gpus = options->exclusions.gpus;
            collectives->excluded_sites = options->exclusions.sources;
            collectives->out = options->out;
            exit_code = run_train_collectives(*collectives);
        }
        if (exit_code == exit_done && !steps->files.empty()) exit_code = run_train_steps(*steps);
    });
}

}  // namespace dlcast
