// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast predict MODEL`: the forecast of a submission, for a person, without Slurm.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/forecast_options.h"
#include "cli/number_option.h"
#include "cli/placements.h"
#include "cli/prediction_report.h"
#include "cli/remedies.h"
#include "predictor/base/json.h"

namespace dlcast {
namespace {

struct Options {
    ForecastOptions forecast;
    bool json = false, layers = false, list = false;
};

// Every model of the zoo with its parameters.
int list_models(bool json) {
    Value models = Value::array();
    std::string table;
    for (const std::string& name : zoo_names()) {
        Declaration declaration;
        declaration.value.set("model", name);
        declaration.source = name;
        const auto workload = to_workload(declaration);
        if (!workload) return report(workload.error());
        const std::uint64_t parameters = workload->model.parameters;
        table += fmt::format("{:<32}{:>16} M parameters\n", name,
                             fmt::format("{:.1f}", static_cast<double>(parameters) / 1e6));
        Value& one = models.push(Value::object());
        one.set("name", name);
        one.set("parameters", parameters);
    }
    Value out = Value::object();
    out.set("models", std::move(models));
    fmt::print("{}", json ? write_json(out, 2) + "\n" : table);
    return exit_done;
}

int run_predict(Options& options) {
    const PredictOptions& given = options.forecast.predict;
    collect_overrides(options.forecast);
    if (const int fault = check_workload(options.forecast)) return fault;
    if (const auto s = check_counts(given); !s) throw CLI::ValidationError(s.error().message);
    const auto site = open_site(options.forecast);
    if (!site) return report(site.error());
    if (given.gpu.empty() && given.partition.empty() && !site->cluster)
        throw CLI::ValidationError(
            "no GPU named; add --gpu NAME (as nvidia-smi or gres.conf writes it), or --partition with a cluster file "
            "(dlcast sync)");
    const auto prediction = make_prediction(given, site->view());
    if (!prediction) return report(prediction.error());
    const auto remedies = find_remedies(given, site->view(), *prediction);
    if (options.json)
        fmt::print("{}\n", write_json(to_value(*prediction, options.layers, remedies), 2));
    else
        fmt::print("{}", to_text(*prediction, options.layers, remedies));
    return fits(*prediction) ? exit_done : exit_does_not_fit;
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("predict", "Forecast a training: step, memory, run time, GPU-hours");
    const auto options = std::make_shared<Options>();
    PredictOptions& p = options->forecast.predict;
    add_forecast_options(*verb, options->forecast);
    verb->add_flag("--list", options->list, "List the models of the zoo instead");
    verb->add_option("--gpu", p.gpu, "GPU by any of its names")->type_name("NAME");
    verb->add_option("--gpus", p.gpus, "GPUs in all, over all nodes")
        ->type_name("N")
        ->transform(whole_number(1, 1'000'000));
    verb->add_option("--nodes", p.nodes, "Nodes")->type_name("N")->transform(whole_number(1, 1'000'000));
    verb->add_option("--partition", p.partition, "Partition of the cluster file, or a list")->type_name("P");
    verb->add_flag("--layers", options->layers, "List the layers");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback([&exit_code, options] {
        if (!options->list && options->forecast.predict.model.empty()) throw CLI::RequiredError("MODEL");
        exit_code = options->list ? list_models(options->json) : run_predict(*options);
    });
}

}  // namespace dlcast
