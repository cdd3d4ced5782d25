// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_ops.h"

#include <fmt/format.h>

#include <map>

#include "cli/csv.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

Status write_predictions(const std::string& path, const std::vector<OpsRow>& rows,
                         const std::vector<OperatorTime>& times) {
    std::string text = "rid,pred_ms\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        text += csv_field(rows[i].rid);
        text += rows[i].fault.empty() ? fmt::format(",{:.6g}\n", 1e3 * times[i].median_s) : ",\n";
    }
    return write_file_atomically(path, text);
}

}  // namespace

Result<OpsEvaluation> evaluate_ops(const std::vector<std::string>& files, const DeviceCatalog& catalog,
                                   const LayerTimeModel& model, const std::string& pred_path) {
    NamedDevices devices(catalog);
    std::vector<OpsRow> rows;
    for (const std::string& file : files)
        if (auto s = read_ops(file, devices, [&](OpsRow&& row) { rows.push_back(std::move(row)); }); !s)
            return s.error();
    const auto times = operator_times(rows, model);
    if (!times) return times.error();
    if (!pred_path.empty()) {
        if (auto s = write_predictions(pred_path, rows, *times); !s) return s.error();
    }
    OpsEvaluation out;
    out.rows = rows.size();
    std::map<std::string, std::pair<std::string, std::size_t>> faults;  // reason -> first row, count
    for (const OpsRow& row : rows) {
        if (row.fault.empty()) continue;
        ++out.undescribed_rows;
        auto& entry = faults.try_emplace(row.fault, row.rid, 0).first->second;
        ++entry.second;
    }
    for (const auto& [fault, where] : faults) {
        out.undescribed.push_back(
            fmt::format("{} row{} from {}: {}", where.second, where.second == 1 ? "" : "s", where.first, fault));
    }
    out.errors = operator_errors(rows, *times);
    return out;
}

}  // namespace dlcast
