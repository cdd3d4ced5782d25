// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/scaling_efficiency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace dlcast {
namespace {

double per_gpu(const StepError& run, double ms) { return run.run.samples / ms / run.run.gpus; }

class Mean {
public:
    void add(double measured, double forecast) {
        ++figures_.cases;
        figures_.error_points += 100 * std::abs(forecast - measured);
        figures_.perfect_points += 100 * std::abs(1 - measured);
    }
    ScalingFigures figures() const {
        ScalingFigures out = figures_;
        if (out.cases == 0) return out;
        out.error_points /= static_cast<double>(out.cases);
        out.perfect_points /= static_cast<double>(out.cases);
        return out;
    }

private:
    ScalingFigures figures_;
};

Value to_value(const ScalingFigures& figures) {
    Value out = Value::object();
    out.set("cases", static_cast<std::int64_t>(figures.cases));
    out.set("error_points", figures.error_points);
    out.set("perfect_points", figures.perfect_points);
    return out;
}

std::string line(const char* name, const ScalingFigures& f) {
    return fmt::format("{:<36}{:>7}{:>9.1f}{:>18.1f}\n", name, f.cases, f.error_points, f.perfect_points);
}

}  // namespace

ScalingReport scaling_report(const std::vector<StepError>& cases) {
    std::map<std::string, const StepError*> smallest;
    const auto counts = [](const StepError& one) {
        return !one.run.setup.empty() && one.run.gpus > 0 && one.run.samples > 0 && one.predicted_ms > 0;
    };
    for (const StepError& one : cases) {
        if (!counts(one)) continue;
        const StepError*& known = smallest[one.run.setup];
        if (!known || one.run.gpus < known->run.gpus) known = &one;
    }
    Mean all, several_nodes;
    for (const StepError& one : cases) {
        if (!counts(one)) continue;
        const StepError& base = *smallest[one.run.setup];
        if (one.run.gpus <= base.run.gpus) continue;
        const double measured = per_gpu(one, one.measured_ms) / per_gpu(base, base.measured_ms);
        const double forecast = per_gpu(one, one.predicted_ms) / per_gpu(base, base.predicted_ms);
        all.add(measured, forecast);
        if (one.run.nodes > 1) several_nodes.add(measured, forecast);
    }
    return {all.figures(), several_nodes.figures()};
}

std::string to_text(const ScalingReport& report) {
    if (report.all.cases == 0) return "";
    return fmt::format("{:<36}{:>7}{:>9}{:>18}\n", "scaling efficiency, error in points", "cases", "mean",
                       "perfect scaling") +
           line("all with a smaller run", report.all) + line("on several nodes", report.several_nodes) + '\n';
}

Value to_value(const ScalingReport& report) {
    Value out = to_value(report.all);
    out.set("several_nodes", to_value(report.several_nodes));
    return out;
}

}  // namespace dlcast
