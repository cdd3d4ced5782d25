// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/repeat.h"

#include <chrono>

namespace dlcast {
namespace {

constexpr int fewest_ever = 3;

// Sorting at every repetition would cost more than short work itself: look again after a tenth more of them.
std::size_t next_look(std::size_t repetitions) { return repetitions + 1 + repetitions / 10; }

}  // namespace

Statistics repeat(const std::function<double()>& run_s, const std::function<double()>& now_s,
                  const RepeatPolicy& policy) {
    const double begin_s = now_s();
    for (int runs = 0; runs < policy.warm_ups || now_s() - begin_s < policy.warm_up_s; ++runs) {
        (void)run_s();
        if (now_s() - begin_s > policy.most_s / 2) break;
    }
    std::vector<double> times_s;
    Statistics out;
    std::size_t look = static_cast<std::size_t>(policy.fewest);
    while (static_cast<int>(times_s.size()) < policy.most) {
        times_s.push_back(run_s());
        const bool time_is_up = static_cast<int>(times_s.size()) >= fewest_ever && now_s() - begin_s > policy.most_s;
        if (!time_is_up && times_s.size() < look) continue;
        out = statistics_of(times_s);
        if (time_is_up || out.relative_ci <= policy.relative_ci) return out;
        look = next_look(times_s.size());
    }
    return statistics_of(times_s);
}

double steady_now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace dlcast
