// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/operator_errors.h"

#include <algorithm>
#include <cmath>

#include "cli/training_rows.h"
#include "predictor/timing/physics.h"

namespace dlcast {
namespace {
constexpr double normal_quantile_95 = 1.6449;  // 90 % of a normal distribution lies within that many deviations
constexpr std::size_t batch_rows = 8192;       // bounds memory, and keeps a batch in the cache

// Sets ask different things (new shapes, shapes of models, GPUs that trained nothing): each by source, operator and
// GPU. Rows whose like was left out of training for being wrong are shown beside, not mixed in.
void add_to_set(ErrorTable& table, const OpsRow& row, const ErrorSample& sample) {
    table.add("set", row.set, sample);
    if (!row.fault.empty()) return;
    const std::string way = "set " + row.set + ", source/kind";
    const std::string kind = row.source + "/" + to_string(row.op.kind);
    table.add(way, kind + (is_known_wrong(row) ? ", " + row.gpu : ""), sample);
    table.add(way + ", GPU", kind + " " + row.gpu, sample);
}

}  // namespace

Result<std::vector<OperatorTime>> operator_times(const std::vector<OpsRow>& rows, const LayerTimeModel& model,
                                                 const OffsetsOf& offsets_of) {
    std::vector<OperatorTime> out(rows.size());
    for (std::size_t start = 0; start < rows.size(); start += batch_rows) {
        std::vector<OperatorQuery> queries;
        std::vector<std::size_t> row_of;
        for (std::size_t i = start; i < std::min(rows.size(), start + batch_rows); ++i) {
            if (!rows[i].fault.empty()) continue;
            queries.push_back({&rows[i].op, rows[i].device, rows[i].clock, offsets_of ? offsets_of(rows[i]) : nullptr});
            row_of.push_back(i);
        }
        const auto times = model.times(queries);
        if (!times) return times.error();
        for (std::size_t i = 0; i < row_of.size(); ++i) out[row_of[i]] = (*times)[i];
    }
    return out;
}

ErrorSample operator_error(const OpsRow& row, const OperatorTime& time) {
    ErrorSample s;
    s.measured_ms = *row.time_ms;
    s.predicted_ms = 1e3 * time.median_s;
    s.ape_pct = s.baseline_ape_pct = 100.0;
    if (!row.fault.empty()) return s;
    s.ape_pct = 100.0 * std::abs(s.predicted_ms - s.measured_ms) / s.measured_ms;
    s.baseline_ape_pct = 100.0 * std::abs(1e3 * roofline_s(*row.device, row.op) - s.measured_ms) / s.measured_ms;
    s.inside_interval = std::abs(std::log(s.measured_ms / s.predicted_ms)) <= normal_quantile_95 * time.log_sd;
    return s;
}

ErrorTable operator_errors(const std::vector<OpsRow>& rows, const std::vector<OperatorTime>& times) {
    ErrorTable table;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].time_ms) continue;
        const ErrorSample sample = operator_error(rows[i], times[i]);
        table.add(sample);
        table.add("source/operator", rows[i].source + "/" + rows[i].op_name, sample);
        table.add("gpu", rows[i].gpu, sample);
        if (!rows[i].set.empty()) add_to_set(table, rows[i], sample);
    }
    return table;
}

}  // namespace dlcast
