// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_steps.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/csv.h"
#include "cli/installation.h"
#include "cli/name_option.h"
#include "cli/scaling_efficiency.h"
#include "cli/steps_table.h"
#include "cli/training_steps.h"
#include "cli/validate_steps.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/job/site_catalog.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {
namespace {

StepError error_of(const StepsRow& row, const StepEstimate* step) {
    StepError out = facts_of(row);
    if (!step) return out;
    out.predicted_ms = 1e3 * step->step_s;
    out.log_sd = step->log_sd;
    return out;
}

}  // namespace

Result<StepsEvaluation> evaluate_steps(const std::string& file, const DeviceCatalog& catalog,
                                       const LayerTimeModel& model, const StepWeights& weights,
                                       const std::string& pred_path) {
    StepsEvaluation out;
    std::string table = "row_id,pred_step_ms,pred_fw_ms,pred_bw_ms\n";
    const auto use = [&](StepsRow&& row) {
        ++out.rows;
        Result<std::vector<StepEstimate>> steps = invalid_argument(row.fault);
        if (row.fault.empty()) steps = estimate_steps({{&row.workload, row.allocation}}, model, weights);
        const std::string id = csv_field(row.field("row_id"));
        if (steps) {
            const StepEstimate& step = steps->front();
            table += fmt::format("{},{:.6g},{:.6g},{:.6g}\n", id, 1e3 * step.step_s, 1e3 * step.forward_s,
                                 1e3 * step.backward_s);
        } else {
            table += id + ",,,\n";
            out.undescribed.push_back(fmt::format("{}: {}", row.field("row_id"), steps.error().message));
        }
        if (is_scored(row)) out.errors.push_back(error_of(row, steps ? &steps->front() : nullptr));
    };
    if (auto status = read_steps(file, catalog, use); !status) return status.error();
    if (!pred_path.empty())
        if (auto status = write_file_atomically(pred_path, table); !status) return status.error();
    return out;
}

Result<StepsEvaluation> cross_validate_steps(const std::string& file, const DeviceCatalog& catalog,
                                             const std::string& fact, bool one_measured, const std::string& pred_path) {
    const auto read = read_training_steps({file}, catalog, {});
    if (!read) return read.error();
    const std::vector<TrainingStep>& steps = read->steps;
    const auto folds = validate_steps(steps, fact, pred_path.empty() ? "" : pred_path + ".folds");
    if (!folds) return folds.error();
    StepsEvaluation out;
    out.rows = steps.size() + read->undescribed.size();
    out.undescribed = read->undescribed;
    const std::vector<StepError> plain = errors_left_out(steps, *folds, fact);
    std::string table = "row_id,pred_step_ms,pred_fw_ms,pred_bw_ms\n";
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto corrected =
            one_measured ? with_one_measured(steps, *folds, fact, i) : std::optional(AnchorCorrection{});
        StepError error = plain[i];
        if (corrected) {
            error.predicted_ms *= corrected->factor;
            error.log_sd *= corrected->spread_share;
            out.errors.push_back(error);
        }
        table += fmt::format("{},{:.6g},,\n", csv_field(steps[i].row_id), error.predicted_ms);
    }
    if (!pred_path.empty())
        if (auto status = write_file_atomically(pred_path, table); !status) return status.error();
    return out;
}

namespace {

struct Options {
    std::string file, out, config, weights, left_out;
    bool json = false, one_measured = false;
};

int print(const Result<StepsEvaluation>& result, const std::string& by, const std::string& weights_id, bool json) {
    if (!result) return report(result.error());
    for (const std::string& line : result->undescribed) fmt::print(stderr, "dlcast: not described: {}\n", line);
    const std::vector<StepError> cases = one_a_group(result->errors);
    const StepFigures all = step_figures(cases);
    const StepFigureTable table = step_figures_by(cases, step_facts());
    const double families_pct = mean_family_median(cases);
    const ScalingReport scaling = scaling_report(cases);
    if (json) {
        Value value = to_value(all, table);
        value.set("mean_family_median_ape_pct", families_pct);
        value.set("scaling_efficiency", to_value(scaling));
        value.set("read_rows", static_cast<std::int64_t>(result->rows));
        value.set("undescribed_rows", static_cast<std::int64_t>(result->undescribed.size()));
        value.set("model", by);
        value.set("weights", weights_id);
        fmt::print("{}\n", write_json(value, 2));
    } else if (cases.empty()) {
        fmt::print("{}, none measured\n", counted(result->rows, "row"));
    } else {
        fmt::print(
            "{}{}median, mean over families: {:.1f} %\n{} read, {} not described (each 100 % error); layer "
            "times: {}\n",
            to_text(scaling), to_text(all, table), families_pct, counted(result->rows, "row"),
            result->undescribed.size(), by);
    }
    return exit_done;
}

int run_steps(const Options& options) {
    const auto config = read_site_config(options.config);
    if (!config) return report(config.error());
    const auto catalog = load_catalog(*config);
    if (!catalog) return report(catalog.error());
    if (!options.left_out.empty())
        return print(cross_validate_steps(options.file, *catalog, options.left_out, options.one_measured, options.out),
                     "step-time model", "", options.json);
    const auto opened = open_model(options.weights, config->weights_dir);
    if (!opened) return report(opened.error());
    if (!opened->warning.empty()) fmt::print(stderr, "dlcast: {}\n", opened->warning);
    return print(evaluate_steps(options.file, *catalog, *opened->model, opened->steps, options.out),
                 opened->model->by(), opened->model->weights_id(), options.json);
}

}  // namespace

void add_evaluate_steps(CLI::App& evaluate, int& exit_code) {
    CLI::App* verb = evaluate.add_subcommand("steps", "Whole training steps: columns in docs/tables.md");
    const auto options = std::make_shared<Options>();
    verb->add_option("FILE", options->file, "Table of steps, CSV or CSV.gz")->required();
    verb->add_option("--out", options->out, "Forecasts to write, as row_id,pred_step_ms,pred_fw_ms,pred_bw_ms")
        ->type_name("PRED.csv");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->add_option("--config", options->config, "Configuration, instead of DLCAST_CONFIG's or the installed one")
        ->type_name("FILE");
    verb->add_option("--weights", options->weights, "Weights, instead of the configuration's")->type_name("DIR");
    verb->add_option("--cross-validate", options->left_out,
                     "Fit again without each value of this, and forecast what was left out")
        ->check(one_of({"gpu", "family", "super-family", "source"}));
    verb->add_flag("--one-measured", options->one_measured,
                   "With --cross-validate: correct each by one measured step of the same model and software on another "
                   "GPU");
    verb->callback([&exit_code, options] { exit_code = run_steps(*options); });
}

}  // namespace dlcast
