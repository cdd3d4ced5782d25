// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "mpi/common_repeat.h"
#include "mpi/data_parallel_step.h"
#include "predictor/base/text.h"
#include "profiler/memory_check.h"

namespace dlcast {
namespace {

constexpr double longest_point_s = 20.0, shortest_point_s = 0.05;

TimingSample sample_here(const SweepContext& c, const SamplePoint& point) {
    ProfileOptions who;
    who.rank = c.ranks.rank();
    who.host = c.ranks.host();
    return blank_sample(c.backend, point, who);
}

/// Time as all ranks see it: rank 0's clock.
class CommonBudget {
public:
    CommonBudget(const SweepContext& c, const char* part, std::size_t points)
        : c_(c), part_(part), points_(points), begin_s_(steady_now_s()) {}

    /// Seconds for the next point, the same on all ranks; 0: time is up.
    double next_s(const std::string& next) {
        const double spent_s = steady_now_s() - begin_s_, rest_s = c_.options.budget_s - spent_s;
        // Short points leave their share to the others: each may take nearly twice its own, the last what is left.
        const double share_s = 2.0 * rest_s / (static_cast<double>(points_ - done_) + 1.0);
        std::vector<double> most_s{
            rest_s <= 0.0 ? 0.0 : std::min(rest_s, std::clamp(share_s, shortest_point_s, longest_point_s))};
        c_.ranks.from_first(most_s, fmt::format("the next point of {}, {}", part_, next));
        if (c_.ranks.rank() == 0 && steady_now_s() - said_s_ > say_every_s) {
            said_s_ = steady_now_s();
            const double left_s =
                done_ == 0
                    ? rest_s
                    : std::min(rest_s, spent_s / static_cast<double>(done_) * static_cast<double>(points_ - done_));
            fmt::print(stderr, "dlcast-sweep: {}: {} of {} points, {} left; {}\n", part_, done_, points_,
                       format_duration(std::max(0.0, left_s)), next);
        }
        ++done_;
        return most_s.front();
    }

private:
    static constexpr double say_every_s = 10.0;
    const SweepContext& c_;
    const char* part_;
    std::size_t points_, done_ = 0;
    double begin_s_, said_s_ = -say_every_s;
};

// Ranks of one host share its memory; each has a GPU of its own.
Result<std::unique_ptr<TrainingNetwork>> network_that_fits(const SweepContext& c, const ProfiledModel& model) {
    const int sharing = c.backend.device().driver.empty() ? std::max(1, c.ranks.size() / c.ranks.nodes()) : 1;
    if (auto room = check_memory(model.model, model.training, c.backend.free_bytes() / sharing); !room)
        return room.error();
    return c.backend.network(model.model, model.training);
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

SweepResult sweep_layers(const SweepContext& c, const std::vector<ProfiledModel>& models) {
    SweepResult out;
    std::vector<Operator> operators;
    for (const SamplePoint& point : points_of(models))
        if (const auto* op = std::get_if<Operator>(&point)) operators.push_back(*op);
    CommonBudget budget(c, "layers", operators.size());
    for (const Operator& op : operators) {
        const std::string what = describe(SamplePoint(op));
        TimingSample sample = sample_here(c, op);
        if (is_known(c, sample, what)) {
            ++out.known;
            continue;
        }
        const double most_s = budget.next_s(what);
        if (most_s <= 0.0) {
            out.left = operators.size() - out.known - out.measured - out.refused.size();
            break;
        }
        auto work = c.backend.prepare(op);
        if (on_any(c, !work, what)) {
            out.refused.push_back(
                fmt::format("{}: {}", what, work ? "another rank cannot run it" : work.error().message));
            continue;
        }
        put_statistics(sample, repeat([&] { return (*work)->run_s(); }, steady_now_s, policy_of(c, most_s)));
        out.times.push_back(append_all(c, sample, what));
        ++out.measured;
    }
    return out;
}

SweepResult sweep_collectives(const SweepContext& c, CollectiveRunner& runner) {
    SweepResult out;
    std::vector<MeasuredCollective> points;
    for (const Collective collective : c.options.collectives)
        for (std::uint64_t bytes = c.options.least_bytes; bytes <= c.options.most_bytes; bytes *= 4)
            points.push_back({collective, bytes, c.ranks.size(), c.ranks.nodes(), runner.library()});
    CommonBudget budget(c, "collectives", points.size());
    for (const MeasuredCollective& point : points) {
        const std::string what = describe(point.collective, point.bytes);
        TimingSample sample = sample_here(c, point);
        sample.versions = runner.versions();
        sample.versions["backend"] = runner.library();
        sample.versions["dlcast"] = DLCAST_VERSION;
        if (is_known(c, sample, what)) {
            ++out.known;
            continue;
        }
        const double most_s = budget.next_s(what);
        if (most_s <= 0.0) {
            out.left = points.size() - out.known - out.measured;
            break;
        }
        put_statistics(sample, repeat_together(
                                   c.ranks, [&] { return runner.run_s(point.collective, point.bytes); },
                                   policy_of(c, most_s), what));
        append(c, sample);
        ++out.measured;
    }
    return out;
}

SweepResult sweep_steps(const SweepContext& c, const std::vector<ProfiledModel>& models) {
    SweepResult out;
    const std::size_t count = 2 * models.size();
    CommonBudget budget(c, "training steps", count);
    for (const ProfiledModel& model : models)
        for (const bool exchange : {false, true}) {
            MeasuredPass point;
            point.model = model.name;
            point.batch = model.training.batch_size;
            point.pass = Pass::step;
            point.precision = model.training.precision;
            point.optimizer = model.training.optimizer;
            point.ranks = c.ranks.size();
            point.nodes = c.ranks.nodes();
            point.bucket_bytes = exchange ? static_cast<std::uint64_t>(DataParallelStep::other_bucket_bytes) : 0;
            const std::string what = describe(SamplePoint(point));
            TimingSample sample = sample_here(c, point);
            if (is_known(c, sample, what)) {
                ++out.known;
                continue;
            }
            const double most_s = budget.next_s(what);
            if (most_s <= 0.0) {
                out.left = count - out.known - out.measured - out.refused.size();
                return out;
            }
            auto network = network_that_fits(c, model);
            if (on_any(c, !network, what)) {
                out.refused.push_back(
                    fmt::format("{}: {}", what, network ? "another rank cannot run it" : network.error().message));
                continue;
            }
            DataParallelStep step(c.ranks, std::move(*network), exchange);
            put_statistics(sample, repeat_together(
                                       c.ranks, [&] { return step.run_s(); }, policy_of(c, most_s), what));
            append(c, sample);
            ++out.measured;
        }
    return out;
}

}  // namespace dlcast
