// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast train`: weights from tables of measured operators.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/train.h"

namespace dlcast {
namespace {

int run_train(TrainOptions options) {
    const auto catalog = shipped_catalog();
    if (!catalog) return report(catalog.error());
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

}  // namespace

void add_train(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("train", "Train weights of the layer-time network from measured operators");
    const auto options = std::make_shared<TrainOptions>();
    verb->add_option("--ops", options->ops, "Tables of measured operators, CSV or CSV.gz")
        ->type_name("FILE")
        ->required();
    verb->add_option("--exclude-gpu", options->exclusions.gpus, "GPUs whose rows are left out")->type_name("NAME");
    verb->add_option("--exclude-source", options->exclusions.sources, "Sources whose rows are left out")
        ->type_name("NAME");
    verb->add_option("--seed", options->seed, "The same seed gives the same weights")->capture_default_str();
    verb->add_option("--members", options->members, "Networks that are averaged")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
    verb->add_option("--effort", options->effort, "Multiplies the epochs")
        ->check(CLI::Range(0.01, 100.0))
        ->capture_default_str();
    verb->add_option("--out", options->out, "Weights directory to write")->type_name("DIR")->required();
    verb->callback([&exit_code, options] { exit_code = run_train(*options); });
}

}  // namespace dlcast
