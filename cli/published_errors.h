// SPDX-License-Identifier: GPL-2.0-or-later
// What others published, for the page of figures.
#pragma once

#include <string>
#include <string_view>

namespace dlcast {

/// How a predictor of a table (pred_NAME_ms) is to be named: "micro" is Li et al.
std::string predictor_name(std::string_view column);

/// Figures published for the rows of this section ("10-ops-test"), one line each in Markdown; "" where there are none.
std::string published_lines(std::string_view section);

}  // namespace dlcast
