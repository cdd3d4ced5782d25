// SPDX-License-Identifier: GPL-2.0-or-later
// Errors of forecasts by group, as every `evaluate` verb prints them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predictor/base/value.h"

namespace dlcast {

/// One row that was forecast and measured. Errors are absolute and relative to the measured value.
struct ErrorSample {
    double measured_ms = 0.0;
    double predicted_ms = 0.0;
    double ape_pct = 0.0;
    double baseline_ape_pct = 0.0;  // of the roofline
    bool inside_interval = false;   // the 90 % interval holds the measured value
};

struct ErrorFigures {
    std::size_t rows = 0;
    double mape_pct = 0.0, median_ape_pct = 0.0, p90_ape_pct = 0.0;
    double rmse_ms = 0.0;
    double baseline_mape_pct = 0.0;
    double coverage_pct = 0.0;  // rows whose 90 % interval holds the measured value
};

ErrorFigures figures_of(const std::vector<ErrorSample>& samples);

class ErrorTable {
public:
    /// `by` names a way to group ("source/operator", "gpu"), `group` one group of it. Each row is added once a way.
    void add(const std::string& by, const std::string& group, const ErrorSample& sample);
    /// Once a row: the total.
    void add(const ErrorSample& sample) { all_.push_back(sample); }

    std::size_t rows() const { return all_.size(); }
    ErrorFigures total() const { return figures_of(all_); }
    std::map<std::string, ErrorFigures> groups(const std::string& by) const;
    /// A page of text: one block a way of grouping, one line a group.
    std::string text() const;
    /// {"rows", "mape_pct", "median_ape_pct", "p90_ape_pct", ..., "by": {way: {group: {...}}}}
    Value json() const;

private:
    std::vector<ErrorSample> all_;
    std::map<std::string, std::map<std::string, std::vector<ErrorSample>>> by_;
};

}  // namespace dlcast
