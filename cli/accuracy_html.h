// SPDX-License-Identifier: GPL-2.0-or-later
// One page with tables and charts that opens anywhere, without a network.
#pragma once

#include <string>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

/// The page of accuracy_json's figures. Error: this program was built without the chart library.
Result<std::string> accuracy_html(const Value& figures);

}  // namespace dlcast
