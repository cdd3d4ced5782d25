// SPDX-License-Identifier: GPL-2.0-or-later
// The words and figures of `dlcast evaluate sampling`.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/csv.h"
#include "cli/evaluate_sampling.h"
#include "cli/number_option.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t terms_shown = 5;

struct SamplingOptions {
    SamplingRequest request;
    std::string out;
    bool json = false;
};

Status write_predictions(const std::string& path, const SamplingEvaluation& result) {
    std::string text = "config_name,measured,pred\n";
    for (std::size_t i = 0; i < result.names.size(); ++i) {
        const bool measured = std::binary_search(result.chosen.begin(), result.chosen.end(), i);
        text += fmt::format("{},{},{:.8g}\n", csv_field(result.names[i]), measured ? 1 : 0, result.predicted[i]);
    }
    return write_file_atomically(path, text);
}

void set_figures(Value& value, const SamplingError& error) {
    value.set("rows", static_cast<std::int64_t>(error.rows));
    value.set("mape_pct", error.mape_pct);
    value.set("median_ape_pct", error.median_ape_pct);
    value.set("p90_ape_pct", error.p90_ape_pct);
}

Value json_of(const SamplingOptions& options, const SamplingEvaluation& result) {
    Value value = Value::object();
    if (!result.errors.empty()) set_figures(value, result.errors.front());
    Value methods = Value::object(), by = Value::object(), chosen = Value::array(), differing = Value::object();
    for (const SamplingError& error : result.errors) {
        Value figures = Value::object();
        set_figures(figures, error);
        methods.set(error.method, std::move(figures));
    }
    by.set("method", std::move(methods));
    value.set("by", std::move(by));
    value.set("target", options.request.column);
    value.set("budget", static_cast<std::int64_t>(options.request.budget));
    value.set("seed", options.request.seed);
    for (const std::size_t i : result.chosen) chosen.push(result.names[i]);
    value.set("measured", std::move(chosen));
    for (const auto& [term, chance] : result.differing) differing.set(term, chance);
    value.set("differs_with_probability", std::move(differing));
    return value;
}

void print_table(const SamplingOptions& options, const SamplingEvaluation& result) {
    fmt::print("{}: {} of {} measured, chosen before any was\n", options.request.column, result.chosen.size(),
               counted(result.names.size(), "configuration"));
    std::vector<std::string> chosen;
    for (const std::size_t i : result.chosen) chosen.push_back(result.names[i]);
    fmt::print("measured: {}\n", fmt::join(chosen, " "));
    fmt::print("\n{:<40} {:>6} {:>8} {:>8} {:>8}\n", "method", "rows", "MAPE %", "median %", "p90 %");
    for (const SamplingError& e : result.errors)
        fmt::print("{:<40} {:>6} {:>8.2f} {:>8.2f} {:>8.2f}\n", e.method, e.rows, e.mape_pct, e.median_ape_pct,
                   e.p90_ape_pct);
    if (result.errors.empty()) fmt::print("nothing else was measured: no errors\n");
    fmt::print("\nlikeliest to differ between the machines (probability)\n");
    for (std::size_t t = 0; t < std::min(terms_shown, result.differing.size()); ++t)
        fmt::print("{:<40} {:>6.2f}\n", result.differing[t].first, result.differing[t].second);
}

int run(const SamplingOptions& options) {
    const auto result = evaluate_sampling(options.request);
    if (!result) return report(result.error());
    if (!options.out.empty())
        if (const auto s = write_predictions(options.out, *result); !s) return report(s.error());
    if (options.json)
        fmt::print("{}\n", write_json(json_of(options, *result), 2));
    else
        print_table(options, *result);
    return exit_done;
}

}  // namespace

void add_evaluate_sampling(CLI::App& evaluate, int& exit_code) {
    CLI::App* verb = evaluate.add_subcommand(
        "sampling", "Predict a machine from few chosen configurations and a fully measured source machine");
    const auto options = std::make_shared<SamplingOptions>();
    SamplingRequest& request = options->request;
    verb->add_option("SOURCE", request.source, "Table of the source machine, all configurations measured")->required();
    verb->add_option("TARGET", request.target, "Table of the new machine, with the same options")->required();
    verb->add_option("--target", request.column, "Column to predict")->type_name("COLUMN")->required();
    verb->add_option("--budget", request.budget, "Configurations to measure on the new machine")
        ->type_name("N")
        ->transform(whole_number(1, 1'000'000'000))
        ->required();
    verb->add_option("--seed", request.seed, "Where the choice starts (1)")
        ->type_name("S")
        ->transform(whole_number(0, largest_seed));
    verb->add_option("--options", request.options, "Option columns, where the tables do not tell them")
        ->delimiter(',')
        ->type_name("A,B,...");
    verb->add_option("--out", options->out, "Predictions to write, as config_name,measured,pred")
        ->type_name("PRED.csv");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback([&exit_code, options] { exit_code = run(*options); });
}

}  // namespace dlcast
