// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/common_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "predictor/base/text.h"
#include "profiler/repeat.h"

namespace dlcast {
namespace {

constexpr double longest_point_s = 20.0, shortest_point_s = 0.05, say_every_s = 10.0;

}  // namespace

CommonBudget::CommonBudget(Ranks& ranks, std::string part, std::size_t points, double seconds)
    : ranks_(ranks),
      part_(std::move(part)),
      left_(points),
      end_s_(steady_now_s() + seconds),
      said_s_(steady_now_s() - say_every_s) {}

double CommonBudget::rest_s() const { return std::max(0.0, end_s_ - steady_now_s()); }

bool CommonBudget::begin(const std::string& next) {
    begun_s_ = steady_now_s();
    // Short points leave their share to the others: each may take nearly twice its own, the last what is left.
    const double share_s = 2.0 * rest_s() / (static_cast<double>(left_) + 1.0);
    std::vector<double> firsts{rest_s(), std::clamp(share_s, shortest_point_s, longest_point_s)};
    ranks_.from_first(firsts, fmt::format("the next point of {}, {}", part_, next));
    agreed_rest_s_ = firsts[0];
    share_s_ = firsts[1];
    next_ = next;
    if (agreed_rest_s_ > 0.0 && ranks_.rank() == 0 && begun_s_ - said_s_ >= say_every_s) {
        said_s_ = begun_s_;
        fmt::print(stderr, "dlcast-sweep: {}: {} points to go, {}; {}\n", part_, left_,
                   to_string(pace_.left(static_cast<double>(left_), agreed_rest_s_)),
                   one_line(next, std::string::npos));
    }
    if (left_ > 0) --left_;
    return agreed_rest_s_ > 0.0;
}

bool CommonBudget::holds(double least_s) {
    std::vector<double> values{least_s, ranks_.rank() == 0 ? rest_s() : 0.0};
    ranks_.maximum(values, next_);
    agreed_rest_s_ = values[1];
    return values[0] <= agreed_rest_s_;
}

double CommonBudget::most_s() const { return std::min(agreed_rest_s_, share_s_); }

void CommonBudget::measured() { pace_.measured(1.0, steady_now_s() - begun_s_); }

}  // namespace dlcast
