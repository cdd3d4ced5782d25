// SPDX-License-Identifier: GPL-2.0-or-later
// Errors of several predictors on the same rows, side by side.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predictor/base/value.h"

namespace dlcast {

class PeerTable {
public:
    /// Columns in this order; the first is ours.
    explicit PeerTable(std::vector<std::string> predictors) : predictors_(std::move(predictors)) {}

    /// One row of `group` under the heading `by`; `predicted_ms` by predictor, where it made a forecast.
    void add(const std::string& by, const std::string& group, double measured_ms,
             const std::map<std::string, double>& predicted_ms);
    /// Mean absolute percentage error of each predictor over its rows; "-" where it has none.
    std::string text() const;
    /// {heading: {group: {predictor: {"rows", "mape_pct", "median_ape_pct"}}}}
    Value json() const;

private:
    using Errors = std::map<std::string, std::vector<double>>;  // by predictor, in per cent
    std::vector<std::string> present(const std::map<std::string, Errors>& groups) const;
    std::vector<std::string> predictors_;
    std::map<std::string, std::map<std::string, Errors>> by_;
};

}  // namespace dlcast
