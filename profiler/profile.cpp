// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/profile.h"

#include <algorithm>
#include <unordered_set>

#include "profiler/least_time.h"
#include "profiler/memory_check.h"

namespace dlcast {
namespace {

// Whole passes are long and few, and all else is held against them.
double weight(const SamplePoint& point) { return std::holds_alternative<MeasuredPass>(point) ? 6.0 : 1.0; }

constexpr double longest_point_s = 20.0;
constexpr double shortest_point_s = 0.05;
constexpr double large_part = 0.1;  // of the time left: what needs more, and more than its share, waits

const ProfiledModel* model_of(const std::vector<ProfiledModel>& models, const SamplePoint& point) {
    const auto* pass = std::get_if<MeasuredPass>(&point);
    for (const ProfiledModel& m : models)
        if (pass != nullptr && m.name == pass->model) return &m;
    return nullptr;
}

Status check_room(const Backend& backend, const SamplePoint& point, const ProfiledModel* model) {
    if (const auto* op = std::get_if<Operator>(&point))
        return check_memory(*op, backend.free_bytes(), backend.fused_attention());
    if (model == nullptr) return ok();  // refused for its own sake
    Training training = model->training;
    training.batch_size = std::get<MeasuredPass>(point).batch;
    return check_memory(model->model, training, backend.free_bytes(), backend.fused_attention());
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

// Each point that the file lacks, once. `sample` is one of this backend.
std::vector<const SamplePoint*> missing_in(const SampleFile& file, const std::vector<SamplePoint>& points,
                                           TimingSample sample, std::size_t& known) {
    const auto hash = [](const SamplePoint* point) { return hash_of(*point); };
    const auto equal = [](const SamplePoint* a, const SamplePoint* b) { return *a == *b; };
    std::unordered_set<const SamplePoint*, decltype(hash), decltype(equal)> seen(points.size(), hash, equal);
    std::vector<const SamplePoint*> out;
    for (const SamplePoint& point : points) {
        if (!seen.insert(&point).second) continue;
        sample.point = point;
        if (file.find(sample) != nullptr)
            ++known;
        else
            out.push_back(&point);
    }
    return out;
}

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
    const auto budget_left_s = [&] { return options.budget_s - (steady_now_s() - begin_s); };
    ProfileResult out;
    TimingSample sample = blank_sample(backend, Operator{}, options);
    std::vector<const SamplePoint*> missing = missing_in(file, points, sample, out.known);
    double weight_left = 0.0;  // of the points to come
    for (const SamplePoint* point : missing) weight_left += weight(*point);
    LeastTime least(backend);
    Pace pace;
    const std::size_t count = missing.size();
    // Behind them come again those that wait.
    for (std::size_t turn = 0; turn < missing.size(); ++turn) {
        const SamplePoint& point = *missing[turn];
        const double rest_s = budget_left_s();
        if (rest_s <= 0.0) break;
        progress(out.measured + out.refused.size(), count, pace.left(weight_left, rest_s), point);
        const double own = weight(point);
        // Short points leave their share to the others: each may take nearly twice its own, the last what is left.
        const double share_s = 2.0 * rest_s * own / (weight_left + own);
        weight_left -= own;
        const ProfiledModel* model = model_of(models, point);
        if (auto room = check_room(backend, point, model); !room) {
            out.refused.push_back({describe(point), room.error().message});
            continue;
        }
        const bool is_pass = std::holds_alternative<MeasuredPass>(point);
        // What cannot end within the budget is left; there may be time for shorter ones.
        const double least_s = least.of_s(point, model);
        if (turn < count && least_s > std::max(share_s, large_part * rest_s)) {
            missing.push_back(&point);
            weight_left += own;
            continue;
        }
        if (least_s > rest_s) continue;
        auto work = std::visit(Prepare{backend, models}, point);
        if (!work) {
            out.refused.push_back({describe(point), work.error().message});
            continue;
        }
        const double prepared_s = rest_s - budget_left_s();
        const double once_s = wall_s(**work), now_left_s = budget_left_s();
        least.took(point, prepared_s, once_s);
        if ((is_pass ? counted_runs : fewest_runs) * once_s > now_left_s) {
            out.lost_s += rest_s - now_left_s;
            continue;
        }
        RepeatPolicy policy = options.policy;
        policy.most_s = std::min(now_left_s - once_s, std::clamp(share_s, shortest_point_s, longest_point_s));
        if (is_pass) {  // long as it is, what went before counts
            policy.most_s -= std::min(policy.most_s, prepared_s);
            policy.warm_up_s -= once_s;
            policy.warm_ups = 0;
        }
        sample.point = point;
        sample.device = backend.device();
        put_statistics(sample, repeat([&] { return (*work)->run_s(); }, steady_now_s, policy));
        if (auto status = file.append(sample); !status) return status.error();
        pace.measured(own, rest_s - budget_left_s());
        ++out.measured;
    }
    out.left = count - out.measured - out.refused.size();
    out.spent_s = steady_now_s() - begin_s;
    return out;
}

}  // namespace dlcast
