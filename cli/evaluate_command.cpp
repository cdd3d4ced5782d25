// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate`: forecasts beside measured tables.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/evaluate_collectives.h"
#include "cli/evaluate_ops.h"
#include "cli/evaluate_sampling.h"
#include "cli/evaluate_steps.h"
#include "cli/gpu_table.h"
#include "cli/installation.h"
#include "predictor/base/json.h"

namespace dlcast {
namespace {

struct OpsOptions {
    std::string file, gpus, out, weights_dir;
    bool json = false;
};

int run_ops(const OpsOptions& options) {
    auto catalog = shipped_catalog();
    if (!catalog) return report(catalog.error());
    if (!options.gpus.empty()) {
        const auto notes = add_gpu_table(*catalog, options.gpus);
        if (!notes) return report(notes.error());
        for (const std::string& note : *notes) fmt::print(stderr, "dlcast: {}\n", note);
    }
    const auto opened = open_model(options.weights_dir);
    if (!opened) return report(opened.error());
    if (!opened->warning.empty()) fmt::print(stderr, "dlcast: warning: {}\n", opened->warning);
    const LayerTimeModel& model = *opened->model;
    const auto result = evaluate_ops(options.file, *catalog, model, options.out);
    if (!result) return report(result.error());
    for (const std::string& line : result->undescribed) fmt::print(stderr, "dlcast: not described: {}\n", line);
    if (options.json) {
        Value value = result->errors.json();
        value.set("read_rows", static_cast<std::int64_t>(result->rows));
        value.set("undescribed_rows", static_cast<std::int64_t>(result->undescribed_rows));
        value.set("model", model.by());
        value.set("weights", model.weights_id());
        fmt::print("{}\n", write_json(value, 2));
    } else if (result->errors.rows() > 0) {
        fmt::print("{}", result->errors.text());
    } else {
        fmt::print("{} rows, none measured\n", result->rows);
    }
    return exit_done;
}

}  // namespace

void add_evaluate(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("evaluate", "Compare forecasts with measured tables");
    verb->require_subcommand(1);
    CLI::App* ops = verb->add_subcommand("ops", "Single operators: columns in docs/tables.md");
    const auto options = std::make_shared<OpsOptions>();
    ops->add_option("FILE", options->file, "Table of operators, CSV or CSV.gz")->required();
    ops->add_option("--gpus", options->gpus, "Table of GPU facts; its rows win over the catalog's")->type_name("FILE");
    ops->add_option("--out", options->out, "Forecasts to write, as rid,pred_ms")->type_name("PRED.csv");
    ops->add_flag("--json", options->json, "Print one JSON object");
    ops->add_option("--weights", options->weights_dir, "Weights directory, instead of the shipped one")
        ->type_name("DIR");
    ops->callback([&exit_code, options] { exit_code = run_ops(*options); });
    add_evaluate_collectives(*verb, exit_code);
    add_evaluate_steps(*verb, exit_code);
    add_evaluate_sampling(*verb, exit_code);
}

}  // namespace dlcast
