// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/transfer_prior.h"

namespace dlcast {

double local_covariance(const TransferPrior& prior, const Effects& effects, const Terms& a, std::size_t i,
                        const Terms& b, std::size_t j) {
    return prior.local * prior.local * a.spread[i] * b.spread[j] *
           matern(a.levels.row(i), b.levels.row(j), effects.source.length_scales);
}

}  // namespace dlcast
