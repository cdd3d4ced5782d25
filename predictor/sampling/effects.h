// SPDX-License-Identifier: GPL-2.0-or-later
// What a fully measured source machine teaches about a system's options, before anything is measured on a new one.
//
// Sources: Jamshidi et al., Transfer learning for performance modeling of configurable systems (ASE 2017); Jamshidi et
// al., Learning to sample (ESEC/FSE 2018): which options and interactions matter carries over between machines, their
// sizes do not; Iqbal et al., Transfer learning for performance modeling of deep neural network systems (OpML 2019).
// There the source is a stepwise regression; here it is a Gaussian process, whose length scales rank the options.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/sampling/option_scale.h"
#include "predictor/sampling/source_model.h"

namespace dlcast {

/// The log ratio new machine / source is taken as a sum of few of these terms, which follow from how time is made:
///     share_j(x)  = f(x) - mean of f over the levels of option j, the others as in x:   the option counts for more or
///                   less than on the source (f is the source's log value, so that its interactions are carried along)
///     seconds(x)  = exp(-f(x)):             the same seconds more everywhere are a larger part of a short run
///     seconds_j(x) = exp(-f(x)) pace_j(x):  seconds more that shrink with clock j
/// Each is scaled so that its weight has the same spread beforehand.
struct Terms {
    std::vector<double> source_log;  // f(x), one a configuration
    std::vector<double> spread;      // how unruly measurements are there, 1 on average over the source
    Matrix levels;                   // configurations x varying options, scaled
    Matrix values;                   // configurations x terms
};

struct Effects {
    std::vector<OptionScale> options;  // those that vary in the source
    std::vector<double> importance;    // of each: standard deviation of share_j over the source, log units
    SourceModel source;
    std::vector<std::size_t> with_terms;     // the most important options, at most 16
    std::vector<std::string> term_names;     // "share of core_freq", "seconds", "seconds by core_freq"
    double source_scale = 0.0;               // log of the mean of exp(-f) over the source
    std::vector<double> log_spread_weights;  // constant, then one an option
};

/// Errors (invalid_argument): fewer than four configurations, a value that is not above zero or not finite, an option
/// value beyond 1e100, no option that varies; configurations and values of different number.
Result<Effects> learn_effects(const Configurations& source, const std::vector<double>& values);

/// The terms at configurations whose columns may stand in another order; further columns are ignored. Errors
/// (invalid_argument): an option of the source is missing.
Result<Terms> terms_at(const Effects& effects, const Configurations& configurations);

}  // namespace dlcast
