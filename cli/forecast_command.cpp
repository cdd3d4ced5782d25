// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast forecast`: GPU-hours spent, left and promised, against budgets.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/gpu_hours_output.h"
#include "predictor/base/json.h"

namespace dlcast {
namespace {

struct ForecastOptions {
    AccountingOptions accounting;
    bool json = false, columns = false;
};

int run_forecast(const ForecastOptions& options) {
    Calendar calendar;
    const auto answer = ask_gpu_hours(options.accounting, calendar);
    if (!answer) return report(answer.error());
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
