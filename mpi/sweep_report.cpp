// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"
#include "profiler/report.h"

namespace dlcast {
namespace {

std::string part_text(const char* name, const SweepResult& r) {
    std::string out = fmt::format("{:<15} {} point{} measured", name, r.measured, r.measured == 1 ? "" : "s");
    if (r.known > 0) out += fmt::format(", {} known before", r.known);
    if (r.left > 0) out += fmt::format(", {} left: no time within the budget; run again, or with a larger one", r.left);
    out += '\n';
    return out + refusals_text(r.refused);
}

std::string speeds_text(const Ranks& ranks, const RankTimes& times) {
    const Speeds speeds = compare_ranks(times, ranks.hosts());
    if (speeds.ranks.empty()) return "";
    std::size_t width = 24;
    for (const RankSpeed& r : speeds.ranks) width = std::max(width, r.host.size());
    std::string out = fmt::format("\nrank  {:<{}}  time of the same layers\n", "host", width);
    for (const RankSpeed& r : speeds.ranks)
        out += fmt::format("{:>4}  {:<{}} {:>6.2f} of the median rank{}\n", r.rank, r.host, width, r.relative,
                           r.slow ? "   slow" : "");
    for (const NodeSpeed& n : speeds.nodes)
        if (n.slow) out += fmt::format("slow node: {} takes {:.2f} of the median node's time\n", n.host, n.relative);
    return out;
}

const TimingSample* step_sample(const SampleFile& file, const Ranks& ranks, const ProfiledModel& model, bool exchange) {
    for (const TimingSample& s : file.samples()) {
        const auto* pass = std::get_if<MeasuredPass>(&s.point);
        if (pass != nullptr && pass->model == model.name && pass->pass == Pass::step && pass->ranks == ranks.size() &&
            pass->nodes == ranks.nodes() && pass->batch == model.training.batch_size &&
            (pass->bucket_bytes > 0) == exchange)
            return &s;
    }
    return nullptr;
}

std::string alone_text(const Ranks& ranks, const std::vector<ProfiledModel>& models, const SampleFile& file) {
    std::string out;
    for (const ProfiledModel& model : models)
        if (const TimingSample* step = step_sample(file, ranks, model, false))
            out += fmt::format("\n{}: a step of one rank takes {:.3f} ms\n", one_line(model.name, std::string::npos),
                               1e3 * step->median_s);
    return out + "\none rank exchanges nothing: for collectives and gradients start several, as in mpirun -np 2\n";
}

}  // namespace

std::string sweep_text(const Ranks& ranks, const SweepResults& results, const std::vector<ProfiledModel>& models,
                       const SampleFile& file, const std::string& output) {
    const bool one_rank = ranks.size() == 1;
    std::string out = fmt::format("{} {} on {} {}; {}\n", ranks.size(), one_rank ? "rank" : "ranks", ranks.nodes(),
                                  ranks.nodes() == 1 ? "node" : "nodes", one_line(output, std::string::npos));
    out += part_text("layers", results.layers);
    if (!one_rank) out += part_text("collectives", results.collectives);
    out += part_text("training steps", results.steps);
    if (one_rank) return out + alone_text(ranks, models, file);
    out += speeds_text(ranks, results.layers.times);
    for (const ProfiledModel& model : models) {
        const TimingSample* alone = step_sample(file, ranks, model, false);
        const TimingSample* together = step_sample(file, ranks, model, true);
        if (alone == nullptr || together == nullptr) continue;
        // Where nothing is to be seen of the exchange, the two differ by noise either way.
        out += fmt::format("\n{}: a step takes {:.3f} ms, {:.3f} ms of it for gradients that backward does not hide\n",
                           one_line(model.name, std::string::npos), 1e3 * together->median_s,
                           1e3 * std::max(0.0, together->median_s - alone->median_s));
    }
    return out;
}

}  // namespace dlcast
