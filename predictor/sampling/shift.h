// SPDX-License-Identifier: GPL-2.0-or-later
// The simple ways to carry a source machine's values over to a new one, to compare with.
// Source: Valov et al., Transferring performance prediction models across different hardware platforms (ICPE 2017).
#pragma once

#include <vector>

namespace dlcast {

/// Values on the new machine from the source's values at all configurations, and the values measured at `chosen`.
/// Linear: least squares of a + b source. Non-linear: least squares of log value = a + b s + c s^2, s = log source.
/// With fewer measurements than coefficients the last ones are left out. Sizes of `chosen` and `measured` are equal and
/// above zero; all values are above zero.
std::vector<double> linear_shift(const std::vector<double>& source, const std::vector<std::size_t>& chosen,
                                 const std::vector<double>& measured);
std::vector<double> nonlinear_shift(const std::vector<double>& source, const std::vector<std::size_t>& chosen,
                                    const std::vector<double>& measured);

}  // namespace dlcast
