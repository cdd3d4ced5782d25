// SPDX-License-Identifier: GPL-2.0-or-later
// The figures of `dlcast report` as JSON: the one source of text tables and charts too.
#pragma once

#include "cli/accuracy_query.h"
#include "predictor/base/value.h"

namespace dlcast {

Value accuracy_json(const AccuracyAnswer& answer, const Calendar& calendar);

}  // namespace dlcast
