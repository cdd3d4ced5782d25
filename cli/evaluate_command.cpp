// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast evaluate`: forecasts beside measured tables.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/cross_validate_ops.h"
#include "cli/evaluate_collectives.h"
#include "cli/evaluate_memory.h"
#include "cli/evaluate_models.h"
#include "cli/evaluate_ops.h"
#include "cli/evaluate_report.h"
#include "cli/evaluate_sampling.h"
#include "cli/evaluate_steps.h"
#include "cli/gpu_table.h"
#include "cli/installation.h"
#include "cli/name_option.h"
#include "cli/number_option.h"
#include "predictor/base/json.h"

namespace dlcast {
namespace {

struct OpsOptions {
    std::vector<std::string> files;
    std::string gpus, out, weights_dir;
    bool json = false;
    OpsCrossValidation folds;
};

int print(const OpsEvaluation& result, const std::string& by, const std::string& weights, bool json) {
    for (const std::string& line : result.undescribed) fmt::print(stderr, "dlcast: not described: {}\n", line);
    if (json) {
        Value value = result.errors.json();
        value.set("read_rows", static_cast<std::int64_t>(result.rows));
        value.set("undescribed_rows", static_cast<std::int64_t>(result.undescribed_rows));
        value.set("model", by);
        value.set("weights", weights);
        fmt::print("{}\n", write_json(value, 2));
    } else if (result.errors.rows() > 0) {
        fmt::print("{}", result.errors.text());
    } else {
        fmt::print("{}, none measured\n", counted(result.rows, "row"));
    }
    return exit_done;
}

int run_ops(const OpsOptions& options) {
    auto catalog = shipped_catalog();
    if (!catalog) return report(catalog.error());
    if (!options.gpus.empty()) {
        const auto notes = add_gpu_table(*catalog, options.gpus);
        if (!notes) return report(notes.error());
        for (const std::string& note : *notes) fmt::print(stderr, "dlcast: {}\n", note);
    }
    if (!options.folds.fact.empty()) {
        OpsCrossValidation folds = options.folds;
        folds.files = options.files;
        folds.pred_path = options.out;
        folds.module_path = find_installation().module_file;
        const auto result = cross_validate_ops(folds, *catalog);
        return result ? print(*result, "torch", "", options.json) : report(result.error());
    }
    const auto opened = open_model(options.weights_dir);
    if (!opened) return report(opened.error());
    if (!opened->warning.empty()) fmt::print(stderr, "dlcast: warning: {}\n", opened->warning);
    const LayerTimeModel& model = *opened->model;
    const auto result = evaluate_ops(options.files, *catalog, model, options.out);
    return result ? print(*result, model.by(), model.weights_id(), options.json) : report(result.error());
}

}  // namespace

void add_evaluate(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand(
        "evaluate", "Compare forecasts with measured tables: operators, models, steps, memory, collectives");
    verb->require_subcommand(1);
    CLI::App* ops = verb->add_subcommand("ops", "Single operators: columns in docs/tables.md");
    const auto options = std::make_shared<OpsOptions>();
    ops->add_option("FILE", options->files, "Tables of operators, CSV or CSV.gz")->required();
    ops->add_option("--gpus", options->gpus, "Table of GPU facts; its rows win over the catalog's")->type_name("FILE");
    ops->add_option("--out", options->out, "Forecasts to write, as rid,pred_ms")->type_name("PRED.csv");
    ops->add_flag("--json", options->json, "Print one JSON object");
    ops->add_option("--weights", options->weights_dir, "Weights directory, instead of the shipped one")
        ->type_name("DIR");
    OpsCrossValidation& folds = options->folds;
    CLI::Option* fact = ops->add_option("--cross-validate", folds.fact,
                                        "Train again without each value of this, and forecast what was left out")
                            ->check(one_of({"gpu", "source"}));
    CLI::Option* work =
        ops->add_option("--work", folds.work, "Keeps the weights of finished folds; a second call goes on")
            ->type_name("DIR")
            ->needs(fact);
    fact->needs(work);
    ops->add_option("--only", folds.only, "Only these folds")->type_name("NAME")->needs(fact);
    ops->add_option_function<std::string>(
           "--fit-by", [&folds](const std::string& how) { folds.fit_chosen = how == "calibrate"; },
           "Rows of --fit-rows: at random, or those that calibrate would choose")
        ->check(one_of({"random", "calibrate"}));
    ops->add_option("--fit-rows", folds.fit_rows,
                    "Rows of each group of operators of a left-out GPU that are taken as measured")
        ->transform(whole_number(0, 100000))
        ->needs(fact);
    ops->add_option("--seed", folds.seed, "Of the training and of the rows drawn")
        ->transform(whole_number(0, largest_seed))
        ->capture_default_str();
    ops->add_option("--members", folds.members, "Networks that are averaged in a fold")
        ->transform(whole_number(1, 16))
        ->capture_default_str();
    ops->add_option("--effort", folds.effort, "Multiplies the epochs of a fold")
        ->check(number_between(0.01, 100.0))
        ->capture_default_str();
    ops->callback([&exit_code, options] { exit_code = run_ops(*options); });
    add_evaluate_models(*verb, exit_code);
    add_evaluate_collectives(*verb, exit_code);
    add_evaluate_steps(*verb, exit_code);
    add_evaluate_memory(*verb, exit_code);
    add_evaluate_sampling(*verb, exit_code);
    add_evaluate_report(*verb, exit_code);
}

}  // namespace dlcast
