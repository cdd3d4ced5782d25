// SPDX-License-Identifier: GPL-2.0-or-later
// Small made-up systems whose behaviour is known, for the tests of guided sampling.
#pragma once

#include <vector>

#include "predictor/sampling/option_scale.h"

namespace dlcast::test {

/// Two clocks of 1, 2, 3, 4 GHz each: 16 configurations, `first` outermost.
inline Configurations two_clocks() {
    Configurations out{.options = {"first", "second"}, .values = Matrix(16, 2)};
    for (std::size_t i = 0; i < 16; ++i) {
        out.values(i, 0) = 1.0 + static_cast<double>(i / 4);
        out.values(i, 1) = 1.0 + static_cast<double>(i % 4);
    }
    return out;
}

/// a / first + b / second + c seconds.
inline std::vector<double> run_s(const Configurations& configurations, double a, double b, double c) {
    std::vector<double> out;
    for (std::size_t i = 0; i < configurations.values.rows; ++i)
        out.push_back(a / configurations.values(i, 0) + b / configurations.values(i, 1) + c);
    return out;
}

inline Configurations rows_of(const Configurations& all, const std::vector<std::size_t>& rows) {
    Configurations out{.options = all.options, .values = Matrix(rows.size(), all.options.size())};
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < all.options.size(); ++j) out.values(i, j) = all.values(rows[i], j);
    return out;
}

}  // namespace dlcast::test
