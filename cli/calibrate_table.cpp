// SPDX-License-Identifier: GPL-2.0-or-later
#include <cmath>
#include <numeric>

#include "cli/calibrate.h"
#include "cli/sampling_table.h"
#include "predictor/sampling/choose.h"

namespace dlcast {

Result<TablePlan> plan_configurations(const TablePlanRequest& request) {
    auto source = read_sampling_table(request.source);
    if (!source) return source.error();
    const auto column = take_column(*source, request.column);
    if (!column) return column.error();
    auto target = read_sampling_table(request.candidates.empty() ? request.source : request.candidates);
    if (!target) return target.error();
    if (target->find(request.column) != nullptr) {
        // What may stand there of the new machine plays no part.
        if (const auto taken = take_column(*target, request.column); !taken) return taken.error();
    }
    auto options = common_options(*source, *target, request.options);
    if (!options) return options.error();
    std::vector<std::size_t> all(source->lines.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto values = measurements(*source, *column, all);
    if (!values) return values.error();
    const auto effects = learn_effects(configurations_of(*source, *options), *values);
    if (!effects) return Error{effects.error().fault, request.source + ": " + effects.error().message};

    TablePlan out;
    const Configurations candidates = configurations_of(*target, *options);
    out.candidates = candidates.values.rows;
    const auto usual = static_cast<std::size_t>(std::ceil(usual_share * static_cast<double>(out.candidates)));
    const auto chosen =
        choose_configurations(*effects, candidates, request.budget == 0 ? usual : request.budget, request.seed);
    if (!chosen) return chosen.error();
    const auto names = configuration_names(*target);
    for (const std::size_t i : *chosen) {
        out.names.push_back(names[i]);
        const double* row = candidates.values.row(i);
        out.values.emplace_back(row, row + candidates.values.cols);
    }
    out.options = std::move(*options);
    return out;
}

}  // namespace dlcast
