// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/gpu_hours_query.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

namespace dlcast {
namespace {

struct KeyHash {
    std::size_t operator()(const RunKey& key) const {
        return std::hash<std::string>{}(key.job) ^ static_cast<std::size_t>(key.submit_s * 0x9e3779b9);
    }
};
using Queue = std::unordered_map<RunKey, JobRun, KeyHash>;

// A requeued job waits again under its number, in the very second of its earlier run's end at worst.
bool is_final(RunState state) {
    return state != RunState::requeued && state != RunState::preempted && state != RunState::node_fail;
}

class Query {
public:
    Query(const AccountingOptions& options, Calendar& calendar, const AccountingWindow& window, SkippedRows& skipped)
        : options_(options),
          calendar_(calendar),
          window_(window),
          skipped_(skipped),
          filter_(options, names_),
          all_(window.begin_s, window.end_s, window.now_s),
          asked_(all_) {}

    Status read_jobs() {
        std::optional<Queue> queue;
        auto lines = open_squeue(options_);
        if (!lines) return lines.error();
        if (*lines) {
            queue.emplace();
            const auto keep = [&](const JobRun& run, const RunKey& key) { queue->insert_or_assign(key, run); };
            if (auto s = read_squeue(std::move(**lines), names_, calendar_, skipped_, keep); !s) return s;
        }
        auto history = open_sacct(options_, window_, calendar_);
        if (!history) return history.error();
        const auto use = [&](const JobRun& run, const RunKey& key) {
            const bool waits = run.state == RunState::pending || run.state == RunState::running;
            if (!queue || !waits) add(run);
            if (!queue) return;
            if (!waits && is_final(run.state)) queue->erase(key);
            if (run.state == RunState::running && queue->count(key) == 0) ++skipped_.runaway;
        };
        if (auto s = read_sacct(std::move(*history), names_, calendar_, skipped_, use); !s) return s;
        if (queue)
            for (const auto& [key, run] : *queue) add(run);
        return ok();
    }

    // A job whose TRES tell no type is known by its forecast's GPU: where Slurm has one type for that, under the type.
    void join_names(const DeviceCatalog& catalog) {
        struct Called {
            std::set<Names::Id> names, types;
        };
        std::set<Names::Id> gpus;
        for (const auto& [key, cell] : all_.cells()) gpus.insert(key.gpu);
        std::map<std::string, Called> devices;
        for (const Names::Id gpu : gpus) {
            std::string note;
            const auto device = catalog.find_or_typical(names_.at(gpu), note);
            if (!device) continue;
            Called& called = devices[device->name];
            (names_.at(gpu) == device->name ? called.names : called.types).insert(gpu);
        }
        std::map<Names::Id, Names::Id> renamed;
        for (const auto& [device, called] : devices)
            if (called.types.size() == 1)
                for (const Names::Id name : called.names) renamed[name] = *called.types.begin();
        all_.rename_gpus(renamed);
        asked_.rename_gpus(renamed);
    }

    Status read_budgets(GpuHoursAnswer& answer) {
        const auto associations = read_associations(options_, answer.warnings);
        if (!associations) return associations.error();
        for (std::string& line : unmatched_filters(options_, names_with(associations->rows)))
            answer.warnings.push_back(std::move(line));
        const std::int64_t seen_until_s = std::min(window_.end_s, window_.now_s);
        const double days = static_cast<double>(seen_until_s - window_.begin_s) / 86'400;
        for (Budget& budget : budgets_of(associations->rows, associations->usage, all_, names_, days, window_.now_s))
            if (filter_.concerns(budget, names_)) answer.budgets.push_back(std::move(budget));
        return ok();
    }

    void fill(GpuHoursAnswer& answer) const {
        for (const auto& [key, cell] : asked_.cells()) {
            answer.total += cell;
            answer.by_account[names_.at(key.account)] += cell;
            answer.by_user[names_.at(key.user)] += cell;
            answer.by_partition[names_.at(key.partition)] += cell;
            answer.by_gpu[names_.at(key.gpu)] += cell;
        }
        answer.by_day = asked_.days();
    }

private:
    // Of jobs on GPUs, and of associations.
    KnownNames names_with(const std::vector<BudgetRow>& rows) const {
        KnownNames out;
        for (const auto& [key, cell] : all_.cells()) {
            out.accounts.insert(names_.at(key.account));
            out.users.insert(names_.at(key.user));
            out.partitions.insert(names_.at(key.partition));
        }
        for (const BudgetRow& row : rows) {
            out.accounts.insert(row.account);
            out.users.insert(row.user);
            out.partitions.insert(row.partition);
        }
        for (auto* names : {&out.accounts, &out.users, &out.partitions}) names->erase("");
        return out;
    }

    void add(const JobRun& run) {
        all_.add(run, calendar_);  // budgets of an account hold all its jobs
        if (!filter_(run.account, run.user, run.partition)) return;
        asked_.add(run, calendar_);
        if (run.gpus <= 0 && asked_.concerns(run)) skipped_.add_cpu(run);
    }

    const AccountingOptions& options_;
    Calendar& calendar_;
    AccountingWindow window_;
    SkippedRows& skipped_;
    Names names_;
    RunFilter filter_;
    GpuHoursSums all_, asked_;
};

}  // namespace

Result<GpuHoursAnswer> ask_gpu_hours(const AccountingOptions& options, Calendar& calendar,
                                     const DeviceCatalog* catalog) {
    const auto window = window_of(options, calendar);
    if (!window) return window.error();
    GpuHoursAnswer answer;
    answer.window = *window;
    Query query(options, calendar, *window, answer.skipped);
    if (auto s = query.read_jobs(); !s) return s.error();
    if (catalog) query.join_names(*catalog);
    if (auto s = query.read_budgets(answer); !s) return s.error();
    query.fill(answer);
    return answer;
}

}  // namespace dlcast
