// SPDX-License-Identifier: GPL-2.0-or-later
// The figures of `dlcast report` for a person.
#pragma once

#include <string>

#include "cli/accuracy_query.h"

namespace dlcast {

std::string accuracy_text(const AccuracyAnswer& answer, const Calendar& calendar);

}  // namespace dlcast
