// SPDX-License-Identifier: GPL-2.0-or-later
// How errors of forecasts go together, and what measured steps therefore say about another step of the same software.
#pragma once

#include <string>
#include <vector>

#include "predictor/device/cluster.h"
#include "predictor/model/workload.h"

namespace dlcast {

/// What a step's error depends on, besides model and software.
struct AnchorFacts {
    std::string gpu, architecture;
    Precision precision = Precision::fp32;
    double gpus = 1, micro_batch = 1, micro_steps = 1, tokens = 1;  // tokens of a sample; 1 for images
};
AnchorFacts anchor_facts(const Workload& workload, const Allocation& allocation, std::int64_t micro_batch,
                         double micro_steps);

/// Correlation of the errors of two forecasts for one model and software, 0 to 1. From refits that leave out kinds of
/// models, and GPUs: half of an error on a kind of model that the fit never saw stands on every GPU and precision, nine
/// tenths on GPUs of one generation in one precision; of an error on a known kind 0.2 and 0.7. Sizes that differ take
/// from it, sequence lengths most.
double error_correlation(const AnchorFacts& a, const AnchorFacts& b, bool known_kind);

struct Anchor {
    AnchorFacts facts;
    double log_ratio = 0.0;  // of measured over forecast
};

struct AnchorCorrection {
    double factor = 1.0;        // of the forecast
    double spread_share = 1.0;  // of its log_sd, that remains; above 1 where anchors contradict one another
};

/// The best linear forecast of a step's error from those of `anchors`, all errors of one variance: with c the
/// correlations between step and anchors, C those among anchors,
///     log factor = c' C^-1 log ratios,    spread_share^2 = 1 - c' C^-1 c
/// Anchors that differ among themselves by more than errors of `log_sd` (of the step's forecast) explain are
/// contradictory: the share grows with the square root of their chi-squared about their own mean by its degrees of
/// freedom. 0 leaves that out. Sources: simple kriging; Cressie, Statistics for Spatial Data (Wiley, 1993), ch. 3.
/// Birge, Phys. Rev. 40 (1932) 207.
AnchorCorrection anchor_correction(const AnchorFacts& step, const std::vector<Anchor>& anchors, bool known_kind,
                                   double log_sd = 0.0);

}  // namespace dlcast
