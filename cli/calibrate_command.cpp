// SPDX-License-Identifier: GPL-2.0-or-later
// The words of `dlcast calibrate`.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/calibrate.h"
#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/csv.h"
#include "cli/installation.h"
#include "cli/number_option.h"
#include "cli/training_option.h"
#include "predictor/base/text.h"
#include "predictor/job/site_catalog.h"

namespace dlcast {
namespace {

struct Options {
    OperatorSpace space;
    TablePlanRequest table;
    std::string gpu, out, weights, config;
    std::size_t budget = 0;
    std::uint64_t seed = 1;
};

// To the file that was asked for, with a word about it; else to stdout, for a pipe.
Status write_plan(const std::string& path, const std::string& text) {
    if (!path.empty()) return write_file_atomically(path, text);
    fmt::print("{}", text);
    return ok();
}

Status run_table(Options options) {
    options.table.source = options.space.models.front();
    options.table.budget = options.budget;
    options.table.seed = options.seed;
    const auto plan = plan_configurations(options.table);
    if (!plan) return plan.error();
    std::string text = "config_name";
    for (const std::string& option : plan->options) text += "," + csv_field(option);
    text += "\n";
    for (std::size_t i = 0; i < plan->names.size(); ++i) {
        text += csv_field(plan->names[i]);
        for (const double value : plan->values[i]) text += fmt::format(",{:.15g}", value);
        text += "\n";
    }
    fmt::print(stderr, "dlcast: {} of {} to measure\n", plan->names.size(), counted(plan->candidates, "configuration"));
    return write_plan(options.out, text);
}

Status run_models(const Options& options) {
    const auto config = read_site_config(options.config);
    if (!config) return config.error();
    const auto catalog = load_catalog(*config);
    if (!catalog) return catalog.error();
    std::string assumed;
    const auto device = catalog->find_or_typical(options.gpu, assumed);
    if (!device) return device.error();
    if (!assumed.empty()) fmt::print(stderr, "dlcast: {}\n", assumed);
    const auto opened = open_model(options.weights, config->weights_dir);
    if (!opened) return opened.error();
    if (opened->model->by() != "torch") return unavailable("guided sampling needs the network: " + opened->warning);
    const auto plan = plan_operators(options.space, *device, *opened->model, options.budget, options.seed);
    if (!plan) return plan.error();
    std::string text;
    for (const Operator& op : plan->operators) text += to_plan_line(op) + "\n";
    std::size_t all = 0;
    for (const PlannedGroup& group : plan->groups) {
        fmt::print(stderr, "dlcast: {}: {} of {} to measure\n", group.name, group.chosen,
                   counted(group.candidates, "operator"));
        all += group.candidates;
    }
    const auto count = static_cast<double>(plan->operators.size()), of = static_cast<double>(all);
    const bool few = options.budget == 0 && count > std::ceil(usual_share * of);
    fmt::print(stderr, "dlcast: {:.1f} % of {}{}, for dlcast-profile --plan\n", 100.0 * count / of,
               counted(all, "operator"),
               few ? fmt::format(" (more than {:.1f} %: each group gets three)", 100.0 * usual_share) : "");
    return write_plan(options.out, text);
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand(
        "calibrate", "Choose the few measurements that tell most about a new GPU, or about a new machine's options");
    const auto options = std::make_shared<Options>();
    verb->add_option("MODEL", options->space.models,
                     "Models whose operators may be measured; with --target, one table measured on another machine")
        ->required();
    CLI::Option* const gpu = verb->add_option("--gpu", options->gpu, "The new GPU, as in gpus.toml")->type_name("NAME");
    verb->add_option("--batch-sizes", options->space.batch_sizes,
                     "Batch sizes of the space; a quarter, half, once and twice each model's own otherwise")
        ->delimiter(',')
        ->type_name("B,...")
        ->transform(whole_number(1, 1'000'000'000));
    verb->add_option("--precisions", options->space.precisions, "Precisions of the space; each model's own otherwise")
        ->delimiter(',')
        ->type_name("P,...")
        ->check(precision_name());
    CLI::Option* const target =
        verb->add_option("--target", options->table.column, "Column of the table that would be measured")
            ->type_name("COLUMN")
            ->excludes(gpu);
    verb->add_option("--candidates", options->table.candidates,
                     "Table of the new machine's configurations; the source's otherwise")
        ->type_name("TABLE")
        ->needs(target);
    verb->add_option("--options", options->table.options, "Option columns, where the tables do not tell them")
        ->delimiter(',')
        ->type_name("A,B,...")
        ->needs(target);
    verb->add_option("--budget", options->budget,
                     "Measurements to choose; 2.4 % of the space otherwise, three of each group of operators at least")
        ->type_name("N")
        ->transform(whole_number(1, 1'000'000'000));
    verb->add_option("--seed", options->seed, "Where the choice starts (1)")
        ->type_name("S")
        ->transform(whole_number(0, largest_seed));
    verb->add_option("--weights", options->weights, "Weights directory, instead of dlcast.toml's")->type_name("DIR");
    verb->add_option("--config", options->config, "dlcast.toml, for the catalog and the weights")->type_name("FILE");
    verb->add_option("--out", options->out, "Plan to write; standard output otherwise")->type_name("PLAN");
    verb->callback([&exit_code, options] {
        const bool table = !options->table.column.empty();
        if (!table && options->gpu.empty()) throw CLI::RequiredError("--gpu, or --target with a table");
        if (table && options->space.models.size() != 1) throw CLI::ValidationError("--target", "takes one table");
        const auto status = table ? run_table(*options) : run_models(*options);
        exit_code = status ? exit_done : report(status.error());
    });
}

}  // namespace dlcast
