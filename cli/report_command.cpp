// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast report`: forecasts against what came, the kill rate and the margins that keep it.
#include <fmt/format.h>

#include <memory>

#include "cli/accuracy_html.h"
#include "cli/accuracy_json.h"
#include "cli/accuracy_text.h"
#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/gpu_hours_output.h"
#include "cli/number_option.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t largest_cluster_bytes = 16u << 20;

struct ReportOptions {
    AccountingOptions accounting;
    std::string cluster_file, html_file, margins_file;
    double kill_rate = 0.0;
    bool json = false;
};

Status write_margins_file(const ReportOptions& options, const AccuracyAnswer& answer) {
    if (options.margins_file.empty()) return ok();
    const Margins& margins = answer.accuracy.margins;
    if (margins.rows.empty())
        return unavailable(fmt::format("{} judged jobs are too few for a kill rate of {:g}; {:.0f} are needed, see -S",
                                       answer.accuracy.counts.judged, answer.kill_rate,
                                       (1 - answer.kill_rate) / answer.kill_rate));
    if (auto s = write_file_atomically(options.margins_file, write_margins(margins)); !s) return s;
    fmt::print(stderr, "dlcast: wrote {}: {} from {}\n", options.margins_file, counted(margins.rows.size(), "margin"),
               counted(margins.rows.front().jobs, "job"));
    return ok();
}

Status run_report(const ReportOptions& options) {
    std::optional<Cluster> cluster;
    if (!options.cluster_file.empty()) {
        const auto text = read_file(options.cluster_file, largest_cluster_bytes);
        if (!text) return text.error();
        auto parsed = parse_cluster(*text, options.cluster_file);
        if (!parsed) return parsed.error();
        cluster = std::move(*parsed);
    }
    Calendar calendar;
    const auto answer = ask_accuracy(options.accounting, cluster ? &*cluster : nullptr, options.kill_rate, calendar);
    if (!answer) return answer.error();
    for (const std::string& line : skipped_lines(answer->skipped)) fmt::print(stderr, "dlcast: warning: {}\n", line);
    const Value figures = accuracy_json(*answer, calendar);
    if (!options.html_file.empty()) {
        const auto page = accuracy_html(figures);
        if (!page) return page.error();
        if (auto s = write_file_atomically(options.html_file, *page); !s) return s;
        fmt::print(stderr, "dlcast: wrote {}\n", options.html_file);
    }
    fmt::print("{}", options.json ? write_json(figures, 2) + "\n" : accuracy_text(*answer, calendar));
    return write_margins_file(options, *answer);
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("report", "Forecasts against what came: kill rate, errors, margins, drift");
    const auto options = std::make_shared<ReportOptions>();
    add_accounting_options(*verb, options->accounting);
    verb->add_option("--cluster", options->cluster_file,
                     "Cluster file: tells the limits that jobs without one of their own would have had")
        ->type_name("FILE");
    verb->add_option("--kill-rate", options->kill_rate, "Share of jobs that may be killed at their limits")
        ->check(number_between(0.0001, 0.5))
        ->type_name("SHARE");
    verb->add_option("--write-margins", options->margins_file, "Write the margins that keep the kill rate")
        ->type_name("FILE");
    verb->add_option("--html", options->html_file, "Write one page with charts that opens without a network")
        ->type_name("FILE");
    verb->add_flag("--json", options->json, "Print one JSON object");
    verb->callback([options, &exit_code] {
        if (!options->margins_file.empty() && options->kill_rate <= 0)
            throw CLI::ValidationError("--write-margins needs the kill rate to keep; add --kill-rate 0.01");
        const Status done = run_report(*options);
        exit_code = done ? exit_done : report(done.error());
    });
}

}  // namespace dlcast
