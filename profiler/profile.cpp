// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/least_time.h"
#include "profiler/memory_check.h"

namespace dlcast {
namespace {

// Whole passes are long and few, and all else is held against them.
double weight(const SamplePoint& point) { return std::holds_alternative<MeasuredPass>(point) ? 6.0 : 1.0; }

constexpr double longest_point_s = 20.0;
constexpr double shortest_point_s = 0.05;

// Of one run, with all that stands around what it times.
double wall_s(PreparedWork& work) {
    const double begin_s = steady_now_s();
    (void)work.run_s();
    return steady_now_s() - begin_s;
}

const ProfiledModel* model_of(const std::vector<ProfiledModel>& models, const SamplePoint& point) {
    const auto* pass = std::get_if<MeasuredPass>(&point);
    for (const ProfiledModel& m : models)
        if (pass != nullptr && m.name == pass->model) return &m;
    return nullptr;
}

Status check_room(const Backend& backend, const SamplePoint& point, const ProfiledModel* model) {
    if (const auto* op = std::get_if<Operator>(&point)) return check_memory(*op, backend.free_bytes());
    if (model == nullptr) return ok();  // refused for its own sake
    Training training = model->training;
    training.batch_size = std::get<MeasuredPass>(point).batch;
    return check_memory(model->model, training, backend.free_bytes());
}

struct Prepare {
    Backend& backend;
    const std::vector<ProfiledModel>& models;

    Result<std::unique_ptr<PreparedWork>> operator()(const Operator& op) const { return backend.prepare(op); }
    Result<std::unique_ptr<PreparedWork>> operator()(const MeasuredCollective&) const {
        return unavailable("a collective needs ranks; measure it with dlcast-sweep");
    }
    Result<std::unique_ptr<PreparedWork>> operator()(const MeasuredPass& pass) const {
        if (pass.ranks > 1) return unavailable("a step over several ranks; measure it with dlcast-sweep");
        const ProfiledModel* found = model_of(models, pass);
        if (found == nullptr) return unavailable("its model is not among those given; name it on the command line");
        Training training = found->training;
        training.batch_size = pass.batch;
        training.precision = pass.precision;
        if (pass.optimizer != Optimizer::none) training.optimizer = pass.optimizer;
        return backend.prepare(found->model, training, pass);
    }
};

}  // namespace

TimingSample blank_sample(const Backend& backend, const SamplePoint& point, const ProfileOptions& options) {
    TimingSample out;
    out.device = backend.device();
    out.versions = backend.versions();
    out.versions["backend"] = backend.name();
    out.versions["dlcast"] = DLCAST_VERSION;
    out.host = options.host;
    out.rank = options.rank;
    out.clock = backend.clock();
    out.point = point;
    return out;
}

void put_statistics(TimingSample& sample, const Statistics& s) {
    sample.repetitions = s.repetitions;
    sample.outliers = s.outliers;
    sample.median_s = s.median_s;
    sample.relative_ci = s.relative_ci;
    sample.fastest_s = s.fastest_s;
    sample.slowest_s = s.slowest_s;
}

Result<ProfileResult> profile(Backend& backend, const std::vector<ProfiledModel>& models,
                              const std::vector<SamplePoint>& points, const ProfileOptions& options, SampleFile& file,
                              const Progress& progress) {
    const double begin_s = steady_now_s();
    ProfileResult out;
    std::vector<TimingSample> missing;
    double weights = 0.0;
    for (const SamplePoint& point : points) {
        TimingSample sample = blank_sample(backend, point, options);
        if (file.find(sample) != nullptr) {
            ++out.known;
            continue;
        }
        weights += weight(point);
        missing.push_back(std::move(sample));
    }
    LeastTime least(backend);
    std::size_t done = 0;
    double weights_done = 0.0;
    for (TimingSample& sample : missing) {
        const double spent_s = steady_now_s() - begin_s;
        const double rest_s = options.budget_s - spent_s;
        if (rest_s <= 0.0) break;
        const double left_s =
            weights_done > 0.0 ? std::min(rest_s, spent_s / weights_done * (weights - weights_done)) : rest_s;
        progress(done, missing.size(), left_s, describe(sample.point));
        ++done;
        weights_done += weight(sample.point);
        // Short points leave their share to the others: each may take nearly twice its own, the last what is left.
        RepeatPolicy policy = options.policy;
        const double own = weight(sample.point);
        const double share_s = 2.0 * rest_s * own / (weights - weights_done + 2.0 * own);
        const ProfiledModel* model = model_of(models, sample.point);
        if (auto room = check_room(backend, sample.point, model); !room) {
            out.refused.push_back(fmt::format("{}: {}", describe(sample.point), room.error().message));
            continue;
        }
        // What cannot end within the budget is left; there may be time for shorter ones.
        if (least.of_s(sample.point, model) > rest_s) {
            ++out.left;
            continue;
        }
        auto work = std::visit(Prepare{backend, models}, sample.point);
        if (!work) {
            out.refused.push_back(fmt::format("{}: {}", describe(sample.point), work.error().message));
            continue;
        }
        const double once_s = wall_s(**work), now_left_s = options.budget_s - (steady_now_s() - begin_s);
        least.took(sample.point, once_s);
        if (fewest_runs * once_s > now_left_s) {
            ++out.left;
            continue;
        }
        policy.most_s = std::min(now_left_s - once_s, std::clamp(share_s, shortest_point_s, longest_point_s));
        sample.device = backend.device();
        put_statistics(sample, repeat([&] { return (*work)->run_s(); }, steady_now_s, policy));
        if (auto status = file.append(sample); !status) return status.error();
        ++out.measured;
    }
    out.left += missing.size() - done;
    out.spent_s = steady_now_s() - begin_s;
    return out;
}

}  // namespace dlcast
