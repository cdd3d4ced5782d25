// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/refined_collective.h"

#include <algorithm>
#include <cmath>

#include "predictor/step/nccl_residual.h"

namespace dlcast {

void CollectiveCorrection::add(double bytes, double form_us, double measured_us) {
    anchors_.push_back({bytes, form_us, std::log(measured_us / form_us)});
}

void CollectiveCorrection::solve() {
    std::vector<TablePoint> points;
    std::vector<double> residuals;
    for (const Anchor& anchor : anchors_) {
        points.push_back({anchor.bytes, anchor.form_us});
        residuals.push_back(anchor.weight);
    }
    const auto weights = residual_weights(points, residuals);
    for (std::size_t i = 0; i < anchors_.size(); ++i) anchors_[i].weight = weights[i];
}

double CollectiveCorrection::factor(double bytes, double form_us) const {
    double expected = 0;
    for (const Anchor& anchor : anchors_)
        expected += anchor.weight * residual_covariance({bytes, form_us}, {anchor.bytes, anchor.form_us});
    const double by_residual = std::exp(expected);
    const auto above =
        std::upper_bound(floors_.begin(), floors_.end(), bytes, [](double b, const Floor& f) { return b < f.bytes; });
    return above == floors_.begin() ? by_residual : std::max(by_residual, std::prev(above)->time_us / form_us);
}

double CollectiveCorrection::largest_anchor() const {
    double out = 0.0;
    for (const Anchor& anchor : anchors_) out = std::max(out, anchor.bytes);
    return out;
}

}  // namespace dlcast
