// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpi/common_budget.h"
#include "mpi/common_repeat.h"
#include "mpi/data_parallel_step.h"
#include "profiler/least_time.h"
#include "profiler/memory_check.h"

namespace dlcast {
namespace {

TimingSample sample_here(const SweepContext& c, const SamplePoint& point) {
    ProfileOptions who;
    who.rank = c.ranks.rank();
    who.host = c.ranks.host();
    return blank_sample(c.backend, point, who);
}

// Ranks of one host share its memory; each has a GPU of its own.
double free_bytes_here(const SweepContext& c) {
    const int sharing = c.backend.device().driver.empty() ? std::max(1, c.ranks.ranks_here()) : 1;
    return c.backend.free_bytes() / sharing;
}

RepeatPolicy policy_of(const SweepContext& c, double most_s) {
    RepeatPolicy policy;
    policy.relative_ci = c.options.relative_ci;
    policy.most_s = most_s;
    return policy;
}

/// True on all ranks where it is true on one.
bool on_any(const SweepContext& c, bool here, const std::string& what) {
    std::vector<double> flag{here ? 1.0 : 0.0};
    c.ranks.maximum(flag, what);
    return flag.front() > 0.0;
}

/// Refused on all ranks where it is on one; each says why by its own reason.
bool refused(const SweepContext& c, const Error* here, const std::string& what, SweepResult& out) {
    if (!on_any(c, here != nullptr, what)) return false;
    out.refused.push_back({what, here != nullptr ? here->message : "another rank cannot run it"});
    return true;
}

template <typename T>
const Error* error_of(const Result<T>& result) {
    return result ? nullptr : &result.error();
}

/// Rank 0 decides whether its file has it.
bool is_known(const SweepContext& c, const TimingSample& sample, const std::string& what) {
    std::vector<double> flag{c.file != nullptr && c.file->find(sample) != nullptr ? 1.0 : 0.0};
    c.ranks.from_first(flag, what);
    return flag.front() > 0.0;
}

void append(const SweepContext& c, const TimingSample& sample) {
    if (c.file == nullptr) return;
    if (auto status = c.file->append(sample); !status) c.ranks.fail(status.error().message);
}

/// Bytes of an array of which every rank's memory holds two, the same on all ranks.
std::uint64_t largest_array(const SweepContext& c) {
    const double free_bytes = free_bytes_here(c);
    if (on_any(c, free_bytes <= 0.0, "the free memory")) return c.options.most_bytes;  // a rank is not told
    std::vector<double> bytes{-usable_share * free_bytes / 2.0};
    c.ranks.maximum(bytes, "the free memory");
    return static_cast<std::uint64_t>(-bytes.front()) / sizeof(float) * sizeof(float);
}

/// Rank 0 writes the line of every rank. Medians by rank, the same everywhere.
std::vector<double> append_all(const SweepContext& c, const TimingSample& sample, const std::string& what) {
    const std::vector<std::string> lines = c.ranks.gather(to_json_line(sample), what);
    for (const std::string& line : lines) {
        const auto read = parse_timing_sample(line, "a rank's sample", 1);
        if (!read) c.ranks.fail(read.error().message);
        append(c, *read);
    }
    std::vector<double> medians(static_cast<std::size_t>(c.ranks.size()), 0.0);
    medians[static_cast<std::size_t>(c.ranks.rank())] = sample.median_s;
    c.ranks.maximum(medians, what);
    return medians;
}

}  // namespace

SweepResult sweep_layers(const SweepContext& c, const std::vector<ProfiledModel>& models, double budget_s) {
    SweepResult out;
    std::vector<Operator> operators;
    for (const SamplePoint& point : points_of(models))
        if (const auto* op = std::get_if<Operator>(&point)) operators.push_back(*op);
    CommonBudget budget(c.ranks, "layers", operators.size(), budget_s);
    LeastTime least(c.backend);
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Operator& op = operators[i];
        const std::string what = describe(SamplePoint(op));
        TimingSample sample = sample_here(c, op);
        if (is_known(c, sample, what)) {
            ++out.known;
            continue;
        }
        if (!budget.begin(what)) {
            out.left += operators.size() - i;
            break;
        }
        if (const auto room = check_memory(op, free_bytes_here(c), c.backend.fused_attention());
            refused(c, error_of(room), what, out))
            continue;
        if (!budget.holds(least.of_s(op, nullptr))) {
            ++out.left;
            continue;
        }
        const auto work = c.backend.prepare(op);
        if (refused(c, error_of(work), what, out)) continue;
        if (!budget.holds(fewest_runs * wall_s(**work))) {
            ++out.left;
            continue;
        }
        put_statistics(sample, repeat([&] { return (*work)->run_s(); }, steady_now_s, policy_of(c, budget.most_s())));
        out.times.push_back(append_all(c, sample, what));
        budget.measured();
        ++out.measured;
    }
    return out;
}

SweepResult sweep_collectives(const SweepContext& c, const CollectivesMaker& make, double budget_s) {
    SweepResult out;
    const std::uint64_t held = std::min(c.options.most_bytes, largest_array(c));
    const auto runner = make(held);
    if (!runner) c.ranks.fail(runner.error().message);
    std::vector<MeasuredCollective> points;
    for (const Collective collective : c.options.collectives)
        for (std::uint64_t bytes = c.options.least_bytes; bytes <= c.options.most_bytes; bytes *= 4)
            points.push_back({collective, bytes, c.ranks.size(), c.ranks.nodes(), (*runner)->library()});
    CommonBudget budget(c.ranks, "collectives", points.size(), budget_s);
    double smaller_s = 0.0;  // of the size before
    for (std::size_t i = 0; i < points.size(); ++i) {
        const MeasuredCollective& point = points[i];
        const std::string what = describe(point.collective, point.bytes);
        if (point.bytes == c.options.least_bytes) smaller_s = 0.0;
        TimingSample sample = sample_here(c, point);
        sample.versions = (*runner)->versions();
        sample.versions["backend"] = (*runner)->library();
        sample.versions["dlcast"] = DLCAST_VERSION;
        if (is_known(c, sample, what)) {
            ++out.known;
            continue;
        }
        if (!budget.begin(what)) {
            out.left += points.size() - i;
            break;
        }
        if (point.bytes > held) {
            out.refused.push_back(
                {what, fmt::format("two arrays of this size on each rank are more than nine tenths of the free memory; "
                                   "give a --max-bytes of at most {}",
                                   held)});
            continue;
        }
        const auto once = [&] { return (*runner)->run_s(point.collective, point.bytes); };
        if (!budget.holds(fewest_runs * smaller_s)) {
            ++out.left;
            continue;
        }
        const double begin_s = steady_now_s();
        (void)once();
        smaller_s = steady_now_s() - begin_s;
        if (!budget.holds(fewest_runs * smaller_s)) {
            ++out.left;
            continue;
        }
        put_statistics(sample, repeat_together(c.ranks, once, policy_of(c, budget.most_s()), what));
        append(c, sample);
        budget.measured();
        ++out.measured;
    }
    return out;
}

SweepResult sweep_steps(const SweepContext& c, const std::vector<ProfiledModel>& models, double budget_s) {
    SweepResult out;
    std::vector<bool> ways{false};
    if (c.ranks.size() > 1) ways.push_back(true);  // one rank has nobody to exchange with
    std::size_t left = ways.size() * models.size();
    CommonBudget budget(c.ranks, "training steps", left, budget_s);
    LeastTime least(c.backend);
    for (const ProfiledModel& model : models)
        for (const bool exchange : ways) {
            MeasuredPass point = pass_of(model, Pass::step);
            point.ranks = c.ranks.size();
            point.nodes = c.ranks.nodes();
            point.bucket_bytes = exchange ? static_cast<std::uint64_t>(DataParallelStep::other_bucket_bytes) : 0;
            const std::string what = describe(SamplePoint(point));
            TimingSample sample = sample_here(c, point);
            if (is_known(c, sample, what)) {
                ++out.known;
                --left;
                continue;
            }
            if (!budget.begin(what)) {
                out.left += left;
                return out;
            }
            --left;
            const auto room =
                check_memory(model.model, model.training, free_bytes_here(c), c.backend.fused_attention());
            if (refused(c, error_of(room), what, out)) continue;
            if (!budget.holds(least.of_s(point, &model))) {
                ++out.left;
                continue;
            }
            const double made_from_s = steady_now_s();
            auto network = c.backend.network(model.model, model.training);
            if (refused(c, error_of(network), what, out)) continue;
            DataParallelStep step(c.ranks, std::move(*network), exchange);
            const double begin_s = steady_now_s();
            (void)step.run_s();
            const double once_s = steady_now_s() - begin_s;
            least.took(point, begin_s - made_from_s, once_s);
            if (!budget.holds(fewest_runs * once_s)) {
                ++out.left;
                continue;
            }
            put_statistics(sample, repeat_together(
                                       c.ranks, [&] { return step.run_s(); }, policy_of(c, budget.most_s()), what));
            append(c, sample);
            budget.measured();
            ++out.measured;
        }
    return out;
}

}  // namespace dlcast
