// SPDX-License-Identifier: GPL-2.0-or-later
// The constants of the collectives' cost model as they are shipped.
#pragma once

#include "predictor/step/link_catalog.h"

namespace dlcast {

/// etc/collectives.toml as it was when the program was built (a test holds that it parses).
const FittedCollectives& shipped_collectives();

}  // namespace dlcast
