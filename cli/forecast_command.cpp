// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast forecast`: GPU-hours spent, left and promised, against budgets.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/gpu_hours_output.h"
#include "cli/installation.h"
#include "predictor/base/json.h"
#include "predictor/job/site_catalog.h"

namespace dlcast {
namespace {

struct ForecastOptions {
    AccountingOptions accounting;
    bool json = false, columns = false;
};

// The GPUs as slurmctld knows them. Sums are right without, so that what is wrong with them is a warning.
Result<DeviceCatalog> known_gpus() {
    const auto config = read_site_config("");
    if (!config) return config.error();
    return load_catalog(*config);
}

int run_forecast(const ForecastOptions& options) {
    Calendar calendar;
    const auto catalog = known_gpus();
    auto answer = ask_gpu_hours(options.accounting, calendar, catalog ? &*catalog : nullptr);
    if (!answer) return report(answer.error());
    if (!catalog)
        answer->warnings.push_back(catalog.error().message +
                                   "; a GPU may stand under two names: Slurm's type and the forecast's");
    for (const std::string& line : answer->warnings) fmt::print(stderr, "dlcast: warning: {}\n", line);
    for (const std::string& line : skipped_lines(answer->skipped)) fmt::print(stderr, "dlcast: warning: {}\n", line);
    if (options.json)
        fmt::print("{}\n", write_json(gpu_hours_json(*answer, calendar), 2));
    else
        fmt::print("{}", options.columns ? gpu_hours_columns(*answer) : gpu_hours_text(*answer, calendar));
    return exit_done;
}

}  // namespace

void add_forecast(CLI::App& app, int& exit_code) {
    CLI::App* verb =
        app.add_subcommand("forecast", "GPU-hours spent, left in running and promised by pending jobs, and budgets");
    const auto options = std::make_shared<ForecastOptions>();
    add_accounting_options(*verb, options->accounting);
    verb->add_option("--squeue", options->accounting.squeue_file, "Read saved output of squeue")->type_name("FILE");
    verb->add_option("--assoc", options->accounting.assoc_file, "Read saved output of sacctmgr show assoc")
        ->type_name("FILE");
    verb->add_option("--sshare", options->accounting.sshare_file, "Read saved output of sshare")->type_name("FILE");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->add_flag("-P,--parsable2", options->columns, "Print one table with fields divided by |");
    verb->callback([options, &exit_code] { exit_code = run_forecast(*options); });
}

}  // namespace dlcast
