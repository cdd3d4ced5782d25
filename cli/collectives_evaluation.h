// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts for tables of measured collectives, and their errors beside two baselines.
#pragma once

#include <string>
#include <vector>

#include "cli/collectives_table.h"
#include "cli/error_table.h"

namespace dlcast {

/// What is left out of the fit before a row is forecast.
enum class LeftOut { nothing, setup, site };

struct CollectiveForecast {
    double time_us = 0.0;  // 0: the row could not be described
    double form_us = 0.0;  // before measured sizes corrected it
    bool fitted = false;   // its measurement corrected the table
};

/// One forecast for each row, in order. With `left_out`, each set-up's (or site's) rows come from constants fitted to
/// the countable rows of all others. `fit_sizes` measured sizes of each table (set-up, collective, dtype) then correct
/// its others; without them measured columns decide nothing.
std::vector<CollectiveForecast> forecast_collectives(const CollectiveTables& tables, const NcclConstants& constants,
                                                     const NcclPriors& priors, LeftOut left_out, std::size_t fit_sizes);

/// Constants fitted to all countable rows, with the spread that `held_out` forecasts (LeftOut::site) show.
FittedCollectives fit_tables(const CollectiveTables& tables, const NcclPriors& priors,
                             const std::vector<CollectiveForecast>& held_out);

struct CollectiveErrors {
    ErrorTable forecast;
    ErrorTable wire;     // size over the bandwidth of the slowest link
    ErrorTable catalog;  // NCCL's form with its own numbers
    std::string text() const;
    Value json() const;
};

/// Of the rows that count (healthy, no outlier, measured, not `fitted`), by size, collective, links, and one node
/// against several. The 90 % interval is that of `spread`.
CollectiveErrors collective_errors(const CollectiveTables& tables, const std::vector<CollectiveForecast>& forecasts,
                                   const NcclPriors& priors, const CollectiveSpread& spread);

}  // namespace dlcast
