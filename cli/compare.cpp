// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast compare MODEL`: one training over GPU types, as a table and bars.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/forecast_options.h"
#include "cli/number_option.h"
#include "cli/picture_file.h"
#include "cli/placements.h"
#include "predictor/base/json.h"

namespace dlcast {
namespace {

struct Options {
    ForecastOptions forecast;
    std::vector<std::string> gpus;
    std::string svg;
    bool json = false;
};

int run_compare(Options& options) {
    collect_overrides(options.forecast);
    if (const int fault = check_workload(options.forecast)) return fault;
    if (const auto s = check_counts(options.forecast.predict); !s) throw CLI::ValidationError(s.error().message);
    const auto site = open_site(options.forecast);
    if (!site) return report(site.error());
    const auto comparison = make_comparison({options.forecast.predict, options.gpus}, site->view());
    if (!comparison) return report(comparison.error());
    if (!options.svg.empty())
        if (const auto status = write_picture(options.svg, to_svg(*comparison)); !status) return report(status.error());
    fmt::print("{}", options.json ? write_json(to_value(*comparison), 2) + "\n" : to_text(*comparison));
    const bool any_fits =
        std::any_of(comparison->gpus.begin(), comparison->gpus.end(), [](auto& g) { return g.fits(); });
    return any_fits ? exit_done : exit_does_not_fit;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("compare", "One training over GPU types: time, GPU-hours, memory");
    const auto options = std::make_shared<Options>();
    PredictOptions& p = options->forecast.predict;
    add_forecast_options(*verb, options->forecast);
    verb->get_option("MODEL")->required();
    verb->add_option("--gpu", options->gpus, "GPUs by name, instead of the cluster file's")->type_name("NAME");
    verb->add_option("--gpus", p.gpus, "GPUs in all, over all nodes")
        ->type_name("N")
        ->transform(whole_number(1, 1'000'000));
    verb->add_option("--nodes", p.nodes, "Nodes")->type_name("N")->transform(whole_number(1, 1'000'000));
    verb->add_option("--partition", p.partition, "Partitions of the cluster file (all)")->type_name("P");
    verb->add_option("--svg", options->svg, "Picture to write")->type_name("FILE");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback([&exit_code, options] { exit_code = run_compare(*options); });
}

}  // namespace dlcast
