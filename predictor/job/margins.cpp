// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/margins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/toml.h"

namespace dlcast {
namespace {

// Beyond eight standard deviations no calibration of real jobs comes out; 0 is a site whose jobs all beat the median.
constexpr double most_deviations = 100.0;

Margin read_margin(const Value& value, const std::string& source, std::vector<std::string>& faults) {
    ObjectReader r(value, source, "margin");
    Margin out;
    out.partition = r.string("partition").value_or("");
    out.model_class = r.string("model_class").value_or("");
    out.jobs = r.integer("jobs", 0).value_or(0);
    out.deviations = r.number("deviations", -most_deviations, most_deviations).value_or(0.0);
    r.require("deviations", "let `dlcast report --write-margins` write the file");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

}  // namespace

const Margin* Margins::find(std::string_view partition, std::string_view model) const {
    const std::string wanted_class = model_class(model);
    const Margin* best = nullptr;
    int best_rank = -1;
    for (const Margin& row : rows) {
        if (!row.partition.empty() && row.partition != partition) continue;
        if (!row.model_class.empty() && row.model_class != wanted_class) continue;
        const int rank = (row.partition.empty() ? 0 : 2) + (row.model_class.empty() ? 0 : 1);
        if (rank > best_rank) best = &row, best_rank = rank;
    }
    return best;
}

double margin_factor(const Margin& margin, double log_sd) {
    return std::exp(margin.deviations * std::max(log_sd, least_log_sd));
}

std::string model_class(std::string_view model) {
    model = model.substr(model.rfind('/') == std::string_view::npos ? 0 : model.rfind('/') + 1);
    std::string out;
    for (const char c : to_lower(model)) {
        if (c < 'a' || c > 'z') break;
        out += c;
    }
    return out.empty() ? to_lower(one_line(model, 64)) : out;
}

Result<Margins> parse_margins(std::string_view text, const std::string& source) {
    const auto root = parse_toml(text, source);
    if (!root) return root.error();
    ObjectReader r(*root, source, "margins file");
    Margins out;
    std::vector<std::string> faults;
    out.kill_rate = r.number("kill_rate", 0.0, 1.0).value_or(0.0);
    out.calibrated_at_s = r.integer("calibrated_at_s", 0).value_or(0);
    if (const Value* list = r.value("margin")) {
        if (!list->is_array())
            return invalid_argument(at_place(source, list->at, "margin should be a list; write [[margin]]"));
        for (const Value& value : list->as_array()) out.rows.push_back(read_margin(value, source, faults));
    }
    if (auto s = r.finish(); !s) return s.error();
    if (!faults.empty()) return invalid_argument(faults.front());
    return out;
}

std::string write_margins(const Margins& margins) {
    std::string out = fmt::format(
        "# How far above the median forecast limits must lie. `dlcast report --write-margins` writes this file "
        "anew.\n\n"
        "kill_rate = {}\ncalibrated_at_s = {}\n",
        margins.kill_rate, margins.calibrated_at_s);
    for (const Margin& row : margins.rows) {
        out += "\n[[margin]]\n";
        if (!row.partition.empty()) out += fmt::format("partition = {}\n", toml_basic_string(row.partition));
        if (!row.model_class.empty()) out += fmt::format("model_class = {}\n", toml_basic_string(row.model_class));
        out += fmt::format("jobs = {}\ndeviations = {:.4f}\n", row.jobs, row.deviations);
    }
    return out;
}

}  // namespace dlcast
