// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/easy_backfill.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>

namespace dlcast {
namespace {

constexpr double least_run_s = 10.0;  // of the bounded slowdown, as the literature has it

class Pool {
public:
    Pool(const std::vector<SimulatedJob>& jobs, std::int64_t capacity) : jobs_(jobs), free_(capacity) {
        result_.jobs = static_cast<std::int64_t>(jobs.size());
        waits_.reserve(jobs.size());
    }

    SimulationResult run(std::int64_t capacity) {
        std::size_t next = 0;
        while (next < jobs_.size() || !ends_.empty()) {
            // All that happens in one second, then one pass over the queue.
            const std::int64_t arrival_s = next < jobs_.size() ? jobs_[next].submit_s : INT64_MAX;
            const std::int64_t now_s = std::min(arrival_s, ends_.empty() ? INT64_MAX : ends_.top().moment_s);
            while (!ends_.empty() && ends_.top().moment_s == now_s) {
                finish(ends_.top().job);
                ends_.pop();
            }
            for (; next < jobs_.size() && jobs_[next].submit_s == now_s; ++next) {
                if (jobs_[next].size <= capacity)
                    queue_.push_back(next);
                else
                    ++result_.too_large;
            }
            schedule(now_s);
        }
        return finished(capacity);
    }

private:
    struct End {
        std::int64_t moment_s;
        std::size_t job;
        bool operator>(const End& other) const { return moment_s > other.moment_s; }
    };

    static bool is_killed(const SimulatedJob& job) { return job.limit_s >= 0 && job.run_s > job.limit_s; }
    static std::int64_t run_s(const SimulatedJob& job) { return is_killed(job) ? job.limit_s : job.run_s; }

    void finish(std::size_t job) {
        free_ += jobs_[job].size;
        planned_.erase(plans_[job]);
        plans_.erase(job);
    }

    void start(std::size_t index, std::int64_t now_s) {
        const SimulatedJob& job = jobs_[index];
        free_ -= job.size;
        ends_.push({now_s + std::max<std::int64_t>(1, run_s(job)), index});
        plans_[index] = planned_.emplace(now_s + std::max<std::int64_t>(1, job.planned_s), Plan{index, now_s});
        const auto wait_s = static_cast<double>(now_s - job.submit_s), took_s = static_cast<double>(run_s(job));
        waits_.push_back(wait_s);
        slowdowns_ += std::max(1.0, (wait_s + took_s) / std::max(took_s, least_run_s));
        last_end_s_ = std::max(last_end_s_, now_s + run_s(job));
        const double used_h = job.size * took_s / 3600;
        result_.used_h += used_h;
        if (job.limit_s >= 0) {
            result_.asked_h += job.size * static_cast<double>(job.limit_s) / 3600;
            used_of_asked_h_ += used_h;
        }
        const bool killed = is_killed(job) || (job.end_unknown && job.limit_s == job.run_s);
        if (killed) ++result_.killed, result_.killed_h += used_h;
        if (job.end_unknown && !killed) ++result_.unknown;
    }

    // Jobs past their planned end get a new one.
    void renew_plans(std::int64_t now_s) {
        while (!planned_.empty() && planned_.begin()->first <= now_s) {
            const Plan plan = planned_.begin()->second;
            const SimulatedJob& job = jobs_[plan.job];
            const std::int64_t by_limit_s = plan.begin_s + job.limit_s;
            const std::int64_t until_s = job.limit_s >= 0 && by_limit_s > now_s ? by_limit_s : 2 * now_s - plan.begin_s;
            planned_.erase(planned_.begin());
            plans_[plan.job] = planned_.emplace(std::max(until_s, now_s + 1), plan);
        }
    }

    void schedule(std::int64_t now_s) {
        while (!queue_.empty() && jobs_[queue_.front()].size <= free_) {
            start(queue_.front(), now_s);
            queue_.pop_front();
        }
        if (queue_.empty() || free_ == 0) return;
        renew_plans(now_s);
        // When the first job can begin, and how many GPUs it leaves then.
        std::int64_t spare = free_, begin_s = now_s;
        for (const auto& [end_s, plan] : planned_) {
            if (spare >= jobs_[queue_.front()].size && end_s > begin_s) break;
            spare += jobs_[plan.job].size;
            begin_s = end_s;
        }
        spare -= jobs_[queue_.front()].size;
        const auto depth = std::min<std::size_t>(queue_.size(), 1 + backfill_depth);
        std::size_t kept = 1;
        for (std::size_t i = 1; i < depth; ++i) {
            const SimulatedJob& job = jobs_[queue_[i]];
            const bool ends_before = now_s + std::max<std::int64_t>(1, job.planned_s) <= begin_s;
            if (job.size <= free_ && (ends_before || job.size <= spare)) {
                if (!ends_before) spare -= job.size;
                start(queue_[i], now_s);
            } else {
                queue_[kept++] = queue_[i];
            }
        }
        queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(kept),
                     queue_.begin() + static_cast<std::ptrdiff_t>(depth));
    }

    SimulationResult finished(std::int64_t capacity) {
        SimulationResult& r = result_;
        r.jobs = static_cast<std::int64_t>(waits_.size());
        if (waits_.empty()) return r;
        const auto n = static_cast<double>(waits_.size());
        std::sort(waits_.begin(), waits_.end());
        for (const double wait_s : waits_) r.mean_wait_s += wait_s / n;
        r.median_wait_s = waits_[waits_.size() / 2];
        r.p95_wait_s = waits_[std::min(waits_.size() - 1, waits_.size() * 95 / 100)];
        r.mean_bounded_slowdown = slowdowns_ / n;
        const auto span_s = static_cast<double>(last_end_s_ - jobs_.front().submit_s);
        if (span_s > 0) r.utilisation = r.used_h * 3600 / (span_s * static_cast<double>(capacity));
        if (used_of_asked_h_ > 0) r.asked_over_used = r.asked_h / used_of_asked_h_;
        return r;
    }

    struct Plan {
        std::size_t job;
        std::int64_t begin_s;
    };
    const std::vector<SimulatedJob>& jobs_;
    std::int64_t free_;
    std::deque<std::size_t> queue_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::multimap<std::int64_t, Plan> planned_;  // by planned end
    std::map<std::size_t, std::multimap<std::int64_t, Plan>::iterator> plans_;
    std::vector<double> waits_;
    double slowdowns_ = 0.0, used_of_asked_h_ = 0.0;
    std::int64_t last_end_s_ = 0;
    SimulationResult result_;
};

}  // namespace

SimulationResult simulate_easy(const std::vector<SimulatedJob>& jobs, std::int64_t capacity) {
    return Pool(jobs, capacity).run(capacity);
}

}  // namespace dlcast
