// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/time_left.h"

#include <fmt/format.h>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

std::string duration(double seconds) { return seconds < 1.0 ? "less than 1 s" : format_duration(seconds); }

}  // namespace

std::string to_string(const TimeLeft& left) {
    if (left.points_s && *left.points_s <= left.budget_s)
        return fmt::format("{}{} left", *left.points_s < 1.0 ? "" : "about ", duration(*left.points_s));
    return fmt::format("the budget ends in {}", duration(left.budget_s));
}

}  // namespace dlcast
