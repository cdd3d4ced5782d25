// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics in Prometheus' text format, read back.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "predictor/base/result.h"

namespace dlcast {

class Metrics {
public:
    /// Errors: a line that is neither a remark nor "name value", with its number; none at all.
    static Result<Metrics> parse(std::string_view text, const std::string& source);
    /// Of "name" or "name{label="x"}", as it is written; 0 where it is not there.
    double value(const std::string& name) const;
    /// Of the first metric of this name that has the label; empty where there is none.
    std::string label(const std::string& name, const std::string& label) const;

private:
    std::map<std::string, double> values_;
};

}  // namespace dlcast
