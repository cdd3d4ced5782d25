// SPDX-License-Identifier: GPL-2.0-or-later
// The margins that a site's kill_rate asks for, read from its margins file.
#pragma once

#include <cstdint>
#include <memory>

#include "predictor/job/margins.h"
#include "predictor/job/site_config.h"

namespace dlcast {

/// null: kill_rate is 0. Errors (quantile x margin_factor then makes the limits): the file is missing (not_found),
/// broken (invalid_argument), holds no margin, keeps another rate or is older than margins_max_age_days (unavailable).
Result<std::shared_ptr<const Margins>> read_margins(const SiteConfig& site, std::int64_t now_s);

/// The moment from which on `margins` are too old; the largest number where they never are.
std::int64_t margins_end_s(const SiteConfig& site, const Margins& margins);

}  // namespace dlcast
