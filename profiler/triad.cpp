// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/triad.h"

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

#include "profiler/repeat.h"

namespace dlcast {
namespace {

constexpr double least_bytes = 64e6, most_bytes = 1e9;

// New pages, written once by one thread.
double made_Bps() {
    const double begin_s = steady_now_s();
    std::vector<float> pages(static_cast<std::size_t>(least_bytes / sizeof(float)), 1.0f);
    return pages.back() * least_bytes / (steady_now_s() - begin_s);
}

double array_bytes_within(double cache_bytes, double most_s) {
    const double in_time_bytes = most_s / 2 * made_Bps() / 3;
    const double usual_bytes = std::clamp(4.0 * cache_bytes, least_bytes, most_bytes);
    return std::max({least_bytes, std::min(cache_bytes, usual_bytes), std::min(usual_bytes, in_time_bytes)});
}

}  // namespace

double triad_Bps(int threads, double cache_bytes, double most_s) {
    constexpr int runs = 5;
    const double last_begin_s = steady_now_s() + most_s;
    const auto each = static_cast<std::size_t>(array_bytes_within(cache_bytes, most_s) / sizeof(float) / threads);
    std::vector<double> begin_s(runs), end_s(runs);
    int run = 0;
    bool goes_on = true;
    std::barrier start(threads, [&]() noexcept { begin_s[static_cast<std::size_t>(run)] = steady_now_s(); });
    std::barrier stop(threads, [&]() noexcept {
        const double now_s = end_s[static_cast<std::size_t>(run++)] = steady_now_s();
        goes_on = run < runs && now_s < last_begin_s;
    });
    const auto work = [&] {
        // Each thread touches its own part first, so that it lies in its own node's memory.
        std::vector<float> a(each, 0.0f), b(each, 1.0f), c(each, 2.0f);
        while (goes_on) {
            start.arrive_and_wait();
            for (std::size_t j = 0; j < each; ++j) a[j] = b[j] + 3.0f * c[j];
            stop.arrive_and_wait();
            b[0] = a[each - 1];  // the next run needs this one
        }
    };
    {
        std::vector<std::jthread> pool;
        for (int t = 1; t < threads; ++t) pool.emplace_back(work);
        work();
    }
    double best = 0.0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(run); ++i)
        best = std::max(best, 3.0 * sizeof(float) * static_cast<double>(each) * threads / (end_s[i] - begin_s[i]));
    return best;
}

}  // namespace dlcast
