// SPDX-License-Identifier: GPL-2.0-or-later
// Which layers of a forecast are least certain, and why.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/value.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

/// Layers of one kind that are uncertain for the same reasons.
struct UncertainLayers {
    std::string kind;
    std::string name;  // of the one that takes longest
    std::size_t count = 0;
    double share_pct = 0.0;  // of the spread of all layers, each weighed by its time
    double log_sd = 0.0;     // of the one that takes longest
    std::vector<std::string> why;
};

/// At most three entries, the largest share first, none under 5 %. `why` is empty where only the scatter of measured
/// times remains.
std::vector<UncertainLayers> least_certain_layers(const std::vector<LayerTiming>& layers);

/// "conv2d layers (86 % of the layers' spread; features.0 +-12 %): GPU never measured"; a wide spread is a factor,
/// "/3.7 to x3.7".
std::string to_text(const UncertainLayers& layers);
/// [{"kind","name","layers","share_pct","log_sd","why":[..]}]
Value to_value(const std::vector<UncertainLayers>& all);

}  // namespace dlcast
