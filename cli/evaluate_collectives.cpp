// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_collectives.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/collectives_evaluation.h"
#include "cli/collectives_through_samples.h"
#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/csv.h"
#include "cli/installation.h"
#include "cli/name_option.h"
#include "cli/number_option.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/step/step_weights.h"

namespace dlcast {
namespace {

struct Options {
    std::string setups, measured, out, left_out, constants_out, weights_dir, samples;
    std::size_t fit_sizes = 0;
    bool json = false;
};

// The constants of a weights directory where it holds some, else the shipped ones.
Result<FittedCollectives> load_constants(const std::string& weights_dir, const std::string& data_dir) {
    if (weights_dir.empty()) return collectives_of(data_dir);
    if (!std::filesystem::is_directory(weights_dir))
        return invalid_argument(
            fmt::format("--weights: '{}' is no directory; give one that `dlcast train` wrote", weights_dir));
    if (!std::filesystem::exists(weights_dir + "/" + collectives_file))
        fmt::print(stderr, "dlcast: warning: '{}' has no {}; the shipped constants answer\n", weights_dir,
                   collectives_file);
    return collectives_of(weights_dir);
}

std::string table_text(const CollectiveTables& tables, const std::vector<CollectiveForecast>& forecasts,
                       bool with_fitted) {
    std::string text = with_fitted ? "setup_id,collective,dtype,size_bytes,pred_us,fitted\n"
                                   : "setup_id,collective,dtype,size_bytes,pred_us\n";
    for (std::size_t i = 0; i < tables.rows.size(); ++i) {
        const CollectiveRow& row = tables.rows[i];
        text += fmt::format("{},{},{},{},", csv_field(row.setup_id), csv_field(row.collective), csv_field(row.dtype),
                            csv_field(row.size_bytes));
        if (forecasts[i].time_us > 0 || row.fault.empty()) text += fmt::format("{:.6g}", forecasts[i].time_us);
        if (with_fitted) text += forecasts[i].fitted ? ",1" : ",0";
        text += '\n';
    }
    return text;
}

void print_talk(const CollectiveTables& tables) {
    for (const std::string& warning : tables.warnings) fmt::print(stderr, "dlcast: warning: {}\n", warning);
    std::map<std::string, std::size_t> faults;
    for (const CollectiveRow& row : tables.rows)
        if (!row.fault.empty()) ++faults[row.setup_id + ": " + row.fault];
    for (const auto& [fault, rows] : faults)
        fmt::print(stderr, "dlcast: not described: {} ({}, counted as 100 % error)\n", fault, counted(rows, "row"));
}

Status run(const Options& options) {
    const std::string data_dir = find_installation().data_dir;
    const auto links = shipped_links();
    if (!links) return links.error();
    const auto shipped = load_constants(options.weights_dir, data_dir);
    if (!shipped) return shipped.error();
    const auto tables = read_collectives(options.setups, options.measured, *links);
    if (!tables) return tables.error();
    print_talk(*tables);

    const LeftOut left_out = options.left_out == "site"    ? LeftOut::site
                             : options.left_out == "setup" ? LeftOut::setup
                                                           : LeftOut::nothing;
    auto forecasts = forecast_collectives(*tables, shipped->constants, links->priors, left_out, options.fit_sizes);
    if (!options.samples.empty())
        if (auto s = correct_through_samples(*tables, options.samples, forecasts); !s) return s;
    if (!options.out.empty())
        if (auto s = write_file_atomically(options.out, table_text(*tables, forecasts, options.fit_sizes > 0)); !s)
            return s;
    if (!options.constants_out.empty()) {
        const auto held_out = forecast_collectives(*tables, shipped->constants, links->priors, LeftOut::site, 0);
        const auto fitted = fit_tables(*tables, links->priors, held_out);
        if (auto s = write_file_atomically(options.constants_out, write_fitted_collectives(fitted)); !s) return s;
    }

    const CollectiveErrors errors = collective_errors(*tables, forecasts, links->priors, shipped->spread);
    if (options.json) {
        Value value = errors.json();
        value.set("read_rows", static_cast<std::int64_t>(tables->rows.size()));
        fmt::print("{}\n", write_json(value, 2));
    } else if (errors.forecast.rows() > 0) {
        fmt::print("{}", errors.text());
    } else {
        fmt::print("{}, none measured\n", counted(tables->rows.size(), "row"));
    }
    return ok();
}

}  // namespace

void add_evaluate_collectives(CLI::App& evaluate, int& exit_code) {
    CLI::App* verb = evaluate.add_subcommand("collectives", "Collectives of many set-ups: nccl-tests tables");
    const auto options = std::make_shared<Options>();
    verb->add_option("SETUPS", options->setups, "Table of machine set-ups, CSV or CSV.gz")->required();
    verb->add_option("MEASURED", options->measured, "Table of sizes and times, CSV or CSV.gz")->required();
    CLI::Option* fit_sizes =
        verb->add_option("--fit-sizes", options->fit_sizes, "Measured sizes of each table that correct its others")
            ->type_name("K")
            ->transform(whole_number(0, 64));
    verb->add_option("--samples", options->samples,
                     "These sizes through files as dlcast-sweep writes them, put here, and as refine reads them")
        ->type_name("DIR")
        ->needs(fit_sizes);
    verb->add_option("--out", options->out, "Forecasts to write: setup_id,collective,dtype,size_bytes,pred_us")
        ->type_name("PRED.csv");
    verb->add_option("--cross-validate", options->left_out, "Forecast each set-up, or each site, by a fit without it")
        ->check(one_of({"setup", "site"}));
    verb->add_option("--fit-constants", options->constants_out, "Fit the constants to these tables and write them")
        ->type_name("FILE.toml");
    verb->add_option("--weights", options->weights_dir, "Weights directory, instead of the shipped one")
        ->type_name("DIR");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback([&exit_code, options] {
        const auto status = run(*options);
        exit_code = status ? exit_done : report(status.error());
    });
}

}  // namespace dlcast
