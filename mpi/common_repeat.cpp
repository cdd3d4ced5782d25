// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/common_repeat.h"

namespace dlcast {
namespace {

constexpr int warm_up_runs = 2;
constexpr int fewest_ever = 3;

}  // namespace

Statistics repeat_together(Ranks& ranks, const std::function<double()>& run_s, const RepeatPolicy& policy,
                           const std::string& what) {
    const double begin_s = steady_now_s();
    for (int i = 0; i < warm_up_runs; ++i) (void)run_s();
    std::vector<double> times_s;
    // The ranks agree after each chunk; its first is small, so that long work is not repeated beyond its time.
    std::size_t chunk = fewest_ever;
    while (true) {
        std::vector<double> part;
        for (std::size_t i = 0; i < chunk; ++i) part.push_back(run_s());
        part.push_back(steady_now_s() - begin_s);
        ranks.maximum(part, what);
        const double spent_s = part.back();
        part.pop_back();
        times_s.insert(times_s.end(), part.begin(), part.end());
        const Statistics out = statistics_of(times_s);
        const bool enough = out.repetitions >= policy.fewest && out.relative_ci <= policy.relative_ci;
        if (enough || spent_s > policy.most_s || out.repetitions >= policy.most) return out;
        const double each_s = spent_s / static_cast<double>(times_s.size() + warm_up_runs);
        const double fits = (policy.most_s - spent_s) / each_s;
        chunk = static_cast<std::size_t>(std::max(1.0, std::min(fits, static_cast<double>(times_s.size()))));
    }
}

}  // namespace dlcast
