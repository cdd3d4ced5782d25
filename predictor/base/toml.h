// SPDX-License-Identifier: GPL-2.0-or-later
// TOML text to Value. toml++ stands behind toml.cpp alone.
#pragma once

#include <string>
#include <string_view>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

/// The tree of `text`, objects for tables; `source` starts each message. Dates and times are refused: no file of ours
/// has any.
Result<Value> parse_toml(std::string_view text, const std::string& source);

/// `text` as a basic string of TOML, in quotes: "a \"b\"".
std::string toml_basic_string(std::string_view text);

}  // namespace dlcast
