// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/accounting_sources.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>

#include "cli/assoc_rows.h"
#include "cli/counted.h"
#include "cli/run_program.h"
#include "cli/slurm_output.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::chrono::minutes patience{10};  // slurmdbd sorts a year of jobs before it answers
constexpr std::int64_t default_days = 30;

constexpr const char* database_remedy =
    "is slurmdbd up, and is this a host of the cluster? Saved output can be read with --sacct FILE";
// Of what only `forecast` asks.
constexpr const char* controller_remedy =
    "is slurmctld up, and is this a host of the cluster? Saved output can be read with --sacct FILE and --squeue FILE";

Result<LineReader> run(const std::vector<std::string>& arguments, const char* remedy) {
    ask_slurm_plainly();
    return LineReader::run(arguments, patience, remedy);
}

Result<std::string> slurm_config() {
    auto config = run_program({"scontrol", "show", "config"}, std::chrono::seconds(60));
    if (!config) return unavailable(fmt::format("{}; {}", config.error().message, controller_remedy));
    return config;
}

std::vector<std::string> list_of(const std::vector<std::string>& given) {
    std::vector<std::string> out;
    for (const std::string& text : given)
        for (const std::string& name : split(text, ','))
            if (!name.empty()) out.push_back(name);
    return out;
}

// What Slurm's commands take too; for Option::check.
CLI::Validator moment() {
    const auto check = [](std::string& text) -> std::string {
        if (Calendar().parse_when(text, 0)) return "";
        return fmt::format("\"{}\" is no moment; write 2026-03-29, 2026-03-29T02:30:00, today, now or now-7days",
                           one_line(text, 60));
    };
    return CLI::Validator(check, "");
}

}  // namespace

void ask_slurm_plainly() {
    ::setenv("SLURM_TIME_FORMAT", "%s", 1);
    ::setenv("SLURM_BITSTR_LEN", "0", 1);
    ::unsetenv("SACCT_FORMAT");
    ::unsetenv("SQUEUE_FORMAT");
    ::unsetenv("SQUEUE_FORMAT2");
}

void add_accounting_options(CLI::App& verb, AccountingOptions& options) {
    verb.add_option("-A,--account", options.accounts, "Only these accounts, divided by commas")->type_name("NAME");
    verb.add_option("-u,--user", options.users, "Only these users")->type_name("NAME");
    verb.add_option("-p,--partition", options.partitions, "Only these partitions")->type_name("NAME");
    verb.add_option("-S,--starttime", options.begin,
                    "Begin of the window: 2026-03-29, 2026-03-29T02:30, today, now-7days; 30 days ago otherwise")
        ->type_name("TIME")
        ->check(moment());
    verb.add_option("-E,--endtime", options.end, "End of the window; now otherwise")
        ->type_name("TIME")
        ->check(moment());
    verb.add_option("--sacct", options.sacct_file, "Read saved output of sacct instead of running it")
        ->type_name("FILE");
    verb.add_option("--at", options.at, "When the files were saved; now otherwise")->type_name("TIME")->check(moment());
    verb.parse_complete_callback([&options] {
        Calendar calendar;
        if (const auto window = window_of(options, calendar); !window)
            throw CLI::ValidationError(window.error().message);
    });
}

Result<AccountingWindow> window_of(const AccountingOptions& options, Calendar& calendar) {
    AccountingWindow out;
    out.now_s =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    const auto read = [&](const char* option, const std::string& text, std::int64_t& to) -> Status {
        const auto moment = calendar.parse_when(text, out.now_s);
        if (!moment)
            return invalid_argument(
                fmt::format("{}: \"{}\" is no moment; write 2026-03-29, 2026-03-29T02:30:00, today, now or now-7days",
                            option, one_line(text, 60)));
        to = *moment;
        return ok();
    };
    if (!options.at.empty())
        if (auto s = read("--at", options.at, out.now_s); !s) return s.error();
    if (auto s = read("--endtime", options.end, out.end_s); !s) return s.error();
    if (options.begin.empty())
        out.begin_s = calendar.day_of(std::min(out.end_s, out.now_s) - default_days * 86'400).begin_s;
    else if (auto s = read("--starttime", options.begin, out.begin_s); !s)
        return s.error();
    if (out.begin_s >= out.end_s)
        return invalid_argument(fmt::format("--starttime {} is not before --endtime {}", calendar.moment(out.begin_s),
                                            calendar.moment(out.end_s)));
    return out;
}

Result<LineReader> open_sacct(const AccountingOptions& options, const AccountingWindow& window,
                              const Calendar& calendar) {
    if (!options.sacct_file.empty()) return LineReader::open(options.sacct_file);
    if (options.from_files())
        return invalid_argument("files are read and none of sacct is among them; add --sacct FILE");
    // An hour more at both ends: a local time may be read in the other pass of a repeated hour. Rows are cut to the
    // window later.
    const auto moment = [&](std::int64_t s) { return calendar.moment(s).substr(0, 19); };
    return run(sacct_arguments(moment(window.begin_s - 3600), moment(std::max(window.end_s, window.now_s) + 3600)),
               database_remedy);
}

Result<std::optional<LineReader>> open_squeue(const AccountingOptions& options) {
    if (options.from_files() && options.squeue_file.empty()) return std::optional<LineReader>();
    auto lines = options.squeue_file.empty() ? run(squeue_arguments(), controller_remedy)
                                             : LineReader::open(options.squeue_file);
    if (!lines) return lines.error();
    if (options.squeue_file.empty()) lines->put_first(squeue_header);
    return std::optional<LineReader>(std::move(*lines));
}

Result<Associations> read_associations(const AccountingOptions& options, std::vector<std::string>& warnings) {
    Associations out;
    if (options.assoc_file.empty() && !options.sshare_file.empty())
        return invalid_argument(
            "--sshare says what was used of budgets, and --assoc, which says the budgets, is not there");
    if (options.from_files() && options.assoc_file.empty()) return out;
    const auto read = [](Result<LineReader> lines, auto rows, auto& to) -> Status {
        if (!lines) return lines.error();
        auto got = rows(std::move(*lines));
        if (!got) return got.error();
        to = std::move(*got);
        return ok();
    };
    if (options.from_files()) {
        if (auto s = read(LineReader::open(options.assoc_file), read_assoc, out.rows); !s) return s.error();
        if (options.sshare_file.empty()) return out;
        if (auto s = read(LineReader::open(options.sshare_file), read_sshare, out.usage); !s) return s.error();
        return out;
    }
    const auto config = slurm_config();
    if (!config) return config.error();
    const std::string cluster = config_value(*config, "ClusterName");
    if (auto s = read(run(assoc_arguments(cluster), database_remedy), read_assoc, out.rows); !s) return s.error();
    constexpr const char* otherwise = "; budgets are held against what accounting shows in the window";
    if (!counts_use(*config))
        warnings.push_back(std::string("without PriorityType=priority/multifactor Slurm counts no use") + otherwise);
    else if (auto s = read(run(sshare_arguments(), controller_remedy), read_sshare, out.usage); !s)
        warnings.push_back(s.error().message + otherwise);
    return out;
}

std::vector<std::string> unmatched_filters(const AccountingOptions& options, const KnownNames& known) {
    std::vector<std::string> out;
    const auto check = [&](const char* option, const std::vector<std::string>& given,
                           const std::set<std::string>& names) {
        const std::vector<std::string> all(names.begin(), names.end());
        for (const std::string& name : list_of(given)) {
            if (names.contains(name)) continue;
            const std::string near = nearest_name(name, all);
            out.push_back(fmt::format("{} {}: no GPU job of this window and no budget has it{}", option,
                                      one_line(name, 60),
                                      !near.empty() ? fmt::format("; did you mean \"{}\"?", near)
                                      : all.empty() ? ""
                                                    : "; they have " + first_of(all)));
        }
    };
    check("--account", options.accounts, known.accounts);
    check("--user", options.users, known.users);
    check("--partition", options.partitions, known.partitions);
    return out;
}

RunFilter::RunFilter(const AccountingOptions& options, Names& names) {
    const auto put = [&](const std::vector<std::string>& from, std::vector<Names::Id>& to) {
        for (const std::string& name : list_of(from)) to.push_back(names.id(name));
    };
    put(options.accounts, accounts_);
    put(options.users, users_);
    put(options.partitions, partitions_);
}

bool RunFilter::holds(const std::vector<Names::Id>& wanted, Names::Id id) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), id) != wanted.end();
}

bool RunFilter::operator()(Names::Id account, Names::Id user, Names::Id partition) const {
    return holds(accounts_, account) && holds(users_, user) && holds(partitions_, partition);
}

bool RunFilter::concerns(const Budget& budget, Names& names) const {
    return holds(accounts_, names.id(budget.account)) &&
           (budget.user.empty() || holds(users_, names.id(budget.user))) &&
           (budget.partition.empty() || holds(partitions_, names.id(budget.partition)));
}

}  // namespace dlcast
