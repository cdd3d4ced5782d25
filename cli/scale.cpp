// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast scale MODEL`: one training over GPU counts, as a table and a picture.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/forecast_options.h"
#include "cli/number_option.h"
#include "cli/picture_file.h"
#include "cli/scaling_report.h"
#include "predictor/base/json.h"

namespace dlcast {
namespace {

struct Options {
    ForecastOptions forecast;
    ScaleOptions scale;
    std::string svg;
    bool json = false;
};

int run_scale(Options& options) {
    collect_overrides(options.forecast);
    if (const int fault = check_workload(options.forecast)) return fault;
    const auto site = open_site(options.forecast);
    if (!site) return report(site.error());
    if (options.scale.gpus.empty() && options.forecast.predict.partition.empty() && !site->cluster)
        throw CLI::ValidationError(
            "no cluster file to take partitions from; write one with dlcast sync, or name GPUs with --gpu");
    options.scale.predict = options.forecast.predict;
    const auto scaling = make_scaling(options.scale, site->view());
    if (!scaling) return report(scaling.error());
    if (!options.svg.empty())
        if (const auto status = write_picture(options.svg, to_svg(**scaling)); !status) return report(status.error());
    fmt::print("{}", options.json ? write_json(to_value(**scaling), 2) + "\n" : to_text(**scaling));
    return (*scaling)->fastest ? exit_done : exit_does_not_fit;
}

}  // namespace

void add_scale(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("scale", "Time, efficiency and GPU-hours against the GPU count");
    const auto options = std::make_shared<Options>();
    add_forecast_options(*verb, options->forecast);
    verb->get_option("MODEL")->required();
    verb->get_option("--steps")->description("Optimizer steps on the fewest GPUs; more see as many samples in fewer");
    verb->add_option("--gpu", options->scale.gpus, "GPUs by name, instead of the cluster file's partitions")
        ->type_name("NAME");
    verb->add_option("--partition", options->forecast.predict.partition, "Partitions of the cluster file (all)")
        ->type_name("P");
    verb->add_option("--max-gpus", options->scale.max_gpus, "Most GPUs (a partition's; 64 with --gpu)")
        ->type_name("N")
        ->transform(whole_number(1, 1'000'000));
    verb->add_option("--svg", options->svg, "Picture to write")->type_name("FILE");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback([&exit_code, options] { exit_code = run_scale(*options); });
}

}  // namespace dlcast
