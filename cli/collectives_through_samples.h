// SPDX-License-Identifier: GPL-2.0-or-later
// `evaluate collectives --samples`: measured sizes that go the way of a site, through files of dlcast-sweep and refine.
#pragma once

#include "cli/collectives_evaluation.h"

namespace dlcast {

/// Writes the rows that `forecasts` marks as fitted into files of timing samples, one for each set-up and data type, as
/// dlcast-sweep writes them; reads and sorts them as `dlcast refine` does; and corrects each table's rows as a forecast
/// corrects its messages. `folder` is made where it is missing. Errors: it cannot be written, a sample cannot be read.
Status correct_through_samples(const CollectiveTables& tables, const std::string& folder,
                               std::vector<CollectiveForecast>& forecasts);

}  // namespace dlcast
