// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_models.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/csv.h"
#include "cli/gpu_table.h"
#include "cli/installation.h"
#include "cli/model_epoch.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr const char* ours = "dlcast";
// The predictors that published forecasts for the rows of one NVIDIA GPU, without compilation.
const std::vector<std::string> peers{"neusight", "habitat", "micro", "roofline"};
const std::vector<std::string> predictors{
    ours, "neusight", "habitat", "micro", "roofline", "prenet", "justus_as_run_by_prenet"};

// Seconds of all calls, one after the other.
Result<double> sum_s(const std::vector<OperatorUse>& uses, const Device& device, const LayerTimeModel& model) {
    std::vector<OperatorQuery> queries;
    for (const OperatorUse& use : uses) queries.push_back({&use.op, &device, Clock::kernel});
    const auto times = model.times(queries);
    if (!times) return times.error();
    double out = 0.0;
    for (std::size_t i = 0; i < uses.size(); ++i) out += uses[i].count * (*times)[i].median_s;
    return out;
}

Result<PassTimes> forecast(const ModelsRow& row, const OpGraphs& graphs, const LayerTimeModel& model,
                           const StepWeights& weights) {
    if (!row.fault.empty()) return invalid_argument(row.fault);
    if (row.unit == "epoch") {
        const auto ms = epoch_ms(row, model, weights);
        return ms ? Result<PassTimes>(PassTimes{*ms, {}, {}}) : Result<PassTimes>(ms.error());
    }
    if (row.gpus > 1) return invalid_argument("runs on several GPUs; evaluate steps forecasts those");
    const auto graph = graphs.find({row.model, row.training, row.seq_len, row.batch});
    if (graph == graphs.end())
        return invalid_argument(
            fmt::format("no operator list for {} {} {}x{}", row.model, row.mode, row.batch, row.seq_len));
    const LayerOperators operators = graph_operators(graph->second, row.fused);
    const auto forward = sum_s(operators.forward, *row.device, model);
    if (!forward) return forward.error();
    const auto backward = sum_s(operators.backward, *row.device, model);
    if (!backward) return backward.error();
    PassTimes out{1e3 * (*forward + *backward), 1e3 * *forward, {}};
    if (row.training) out.backward_ms = 1e3 * *backward;
    return out;
}

bool all_published(const ModelsRow& row) {
    for (const std::string& peer : peers) {
        const auto found = row.published.find(peer);
        if (found == row.published.end() || !found->second.total_ms) return false;
    }
    return true;
}

// One phase of a row under every heading.
void add_phase(PeerTable& table, const ModelsRow& row, const PassTimes& forecast, const std::string& phase,
               std::optional<double> PassTimes::*time) {
    if (!(row.measured.*time)) return;
    std::map<std::string, double> predicted;
    if (forecast.*time) predicted[ours] = *(forecast.*time);
    for (const auto& [name, times] : row.published)
        if (times.*time) predicted[name] = *(times.*time);
    const double measured_ms = *(row.measured.*time);
    if (row.unit == "epoch") return table.add("epochs (samples read by the trainer)", row.gpu, measured_ms, predicted);
    table.add("all", phase, measured_ms, predicted);
    if (all_published(row)) table.add("rows that all published", phase, measured_ms, predicted);
    table.add("gpu", row.gpu + " " + phase, measured_ms, predicted);
    table.add("model", row.model + " " + phase, measured_ms, predicted);
    table.add("mode", row.mode + (row.fused ? " compiled " : " ") + phase, measured_ms, predicted);
}

std::string cell(const std::optional<double>& ms) { return ms ? fmt::format("{:.6g}", *ms) : ""; }

}  // namespace

Result<ModelsEvaluation> evaluate_models(const std::string& models_file, const std::string& graphs_file,
                                         const DeviceCatalog& catalog, const LayerTimeModel& model,
                                         const StepWeights& weights, const std::string& pred_path) {
    const auto graphs = read_op_graphs(graphs_file);
    if (!graphs) return graphs.error();
    NamedDevices devices(catalog);
    ModelsEvaluation out{{}, PeerTable(predictors), 0, {}};
    std::string pred = "row_id,pred_ms,pred_fw_ms,pred_bw_ms\n";
    const auto use = [&](ModelsRow&& row) {
        ++out.rows;
        const auto times = forecast(row, *graphs, model, weights);
        pred += csv_field(row.row_id);
        if (!times) {
            out.undescribed.push_back(fmt::format("{}: {}", row.row_id, times.error().message));
            pred += ",,,\n";
            return;
        }
        pred += fmt::format(",{},{},{}\n", cell(times->total_ms), cell(times->forward_ms), cell(times->backward_ms));
        add_phase(out.peers, row, *times, "total", &PassTimes::total_ms);
        add_phase(out.peers, row, *times, "forward", &PassTimes::forward_ms);
        add_phase(out.peers, row, *times, "backward", &PassTimes::backward_ms);
        if (!row.measured.total_ms || row.unit == "epoch") return;
        ErrorSample sample;
        sample.measured_ms = *row.measured.total_ms;
        sample.predicted_ms = *times->total_ms;
        sample.ape_pct = 100.0 * std::abs(sample.predicted_ms / sample.measured_ms - 1.0);
        out.errors.add(sample);
    };
    if (auto s = read_models(models_file, devices, use); !s) return s.error();
    if (!pred_path.empty())
        if (auto s = write_file_atomically(pred_path, pred); !s) return s.error();
    return out;
}

namespace {

struct Options {
    std::string models, graphs, gpus, out, weights;
    bool json = false;
};

int run_models(const Options& options) {
    auto catalog = shipped_catalog();
    if (!catalog) return report(catalog.error());
    if (!options.gpus.empty()) {
        const auto notes = add_gpu_table(*catalog, options.gpus);
        if (!notes) return report(notes.error());
        for (const std::string& note : *notes) fmt::print(stderr, "dlcast: {}\n", note);
    }
    const auto opened = open_model(options.weights);
    if (!opened) return report(opened.error());
    if (!opened->warning.empty()) fmt::print(stderr, "dlcast: warning: {}\n", opened->warning);
    const auto result =
        evaluate_models(options.models, options.graphs, *catalog, *opened->model, opened->steps, options.out);
    if (!result) return report(result.error());
    for (const std::string& line : result->undescribed) fmt::print(stderr, "dlcast: not described: {}\n", line);
    if (options.json) {
        const ErrorFigures all = result->errors.total();
        Value value = Value::object();
        value.set("rows", static_cast<std::int64_t>(all.rows));
        value.set("mape_pct", all.mape_pct);
        value.set("median_ape_pct", all.median_ape_pct);
        value.set("p90_ape_pct", all.p90_ape_pct);
        value.set("by", result->peers.json());
        value.set("read_rows", static_cast<std::int64_t>(result->rows));
        value.set("undescribed_rows", static_cast<std::int64_t>(result->undescribed.size()));
        value.set("model", opened->model->by());
        value.set("weights", opened->model->weights_id());
        fmt::print("{}\n", write_json(value, 2));
    } else if (result->errors.rows() > 0) {
        fmt::print("MAPE in % of {} and of forecasts published for the same rows\n\n{}", ours, result->peers.text());
    } else {
        fmt::print("{}, none measured\n", counted(result->rows, "row"));
    }
    return exit_done;
}

}  // namespace

void add_evaluate_models(CLI::App& evaluate, int& exit_code) {
    CLI::App* verb = evaluate.add_subcommand("models", "Whole models as sums of operators: columns in docs/tables.md");
    const auto options = std::make_shared<Options>();
    verb->add_option("END_TO_END", options->models, "Table of whole models, CSV or CSV.gz")->required();
    verb->add_option("OPGRAPHS", options->graphs, "Table of the operators of each model")->required();
    verb->add_option("--gpus", options->gpus, "Table of GPU facts; its rows win over the catalog's")->type_name("FILE");
    verb->add_option("--out", options->out, "Forecasts to write, as row_id,pred_ms,pred_fw_ms,pred_bw_ms")
        ->type_name("PRED.csv");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->add_option("--weights", options->weights, "Weights directory, instead of the shipped one")->type_name("DIR");
    verb->callback([&exit_code, options] { exit_code = run_models(*options); });
}

}  // namespace dlcast
