// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/group_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace dlcast {
namespace {

constexpr std::size_t count = 3;
using Vector = std::array<double, count>;

GroupOffsets offsets_of(const Vector& x, std::size_t rows) { return {x[0], x[1], x[2], static_cast<int>(rows)}; }

// Solves a x = b, a symmetric and positive definite, by elimination.
Vector solve(std::array<Vector, count> a, Vector b) {
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t row = i + 1; row < count; ++row) {
            const double factor = a[row][i] / a[i][i];
            for (std::size_t c = i; c < count; ++c) a[row][c] -= factor * a[i][c];
            b[row] -= factor * b[i];
        }
    Vector x{};
    for (std::size_t i = count; i-- > 0;) {
        x[i] = b[i];
        for (std::size_t c = i + 1; c < count; ++c) x[i] -= a[i][c] * x[c];
        x[i] /= a[i][i];
    }
    return x;
}

class Fit {
public:
    Fit(const std::vector<double>& measured, const LogTimes& forecast, const GroupPrior& prior)
        : measured_(measured),
          forecast_(forecast),
          sd_{prior.launch_sd, prior.compute_sd, prior.memory_sd},
          row_sd_(prior.row_log_sd) {}

    Result<GroupOffsets> run() {
        auto at = residuals({});
        if (!at) return at.error();
        Vector x{};
        double cost = cost_of(x, *at);
        for (int iteration = 0; iteration < 20; ++iteration) {
            const auto step = newton_step(x, *at);
            if (!step) return step.error();
            double scale = 1.0, better = cost;
            for (; scale > 0.01; scale *= 0.5) {
                Vector next = x;
                for (std::size_t i = 0; i < count; ++i) next[i] += scale * (*step)[i];
                auto there = residuals(next);
                if (!there) return there.error();
                better = cost_of(next, *there);
                if (better >= cost) continue;
                x = next;
                at = std::move(there);
                break;
            }
            if (cost - better < 1e-6 * cost) break;
            cost = better;
        }
        return offsets_of(x, measured_.size());
    }

private:
    Result<std::vector<double>> residuals(const Vector& x) const {
        auto forecast = forecast_(offsets_of(x, measured_.size()));
        if (!forecast) return forecast;
        for (std::size_t i = 0; i < measured_.size(); ++i) {
            (*forecast)[i] = measured_[i] - (*forecast)[i];
            if (!std::isfinite((*forecast)[i])) return invalid_argument("a measured row has no finite forecast");
        }
        return forecast;
    }

    // Of a row: its residual's share of the cost, and the weight with which a square has the same slope there.
    static double row_cost(double r) { return std::abs(r) < knee ? r * r / (2 * knee) : std::abs(r) - knee / 2; }
    static double row_weight(double r) { return 1.0 / std::max(std::abs(r), knee); }

    double cost_of(const Vector& x, const std::vector<double>& residuals) const {
        double sum = 0.0;
        for (const double r : residuals) sum += row_cost(r) / row_sd_;
        for (std::size_t i = 0; i < count; ++i) sum += x[i] * x[i] / (2 * sd_[i] * sd_[i]);
        return sum;
    }

    Result<Vector> newton_step(const Vector& x, const std::vector<double>& at) const {
        constexpr double h = 0.02;  // wide enough for the network's single precision
        std::array<std::vector<double>, count> slopes;
        for (std::size_t i = 0; i < count; ++i) {
            Vector moved = x;
            moved[i] += h;
            auto there = residuals(moved);
            if (!there) return there.error();
            slopes[i] = std::move(*there);
            for (std::size_t row = 0; row < at.size(); ++row) slopes[i][row] = (at[row] - slopes[i][row]) / h;
        }
        std::array<Vector, count> a{};
        Vector b{};
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t row = 0; row < at.size(); ++row) {
                const double weight = row_weight(at[row]) / row_sd_;
                b[i] += weight * slopes[i][row] * at[row];
                for (std::size_t j = 0; j < count; ++j) a[i][j] += weight * slopes[i][row] * slopes[j][row];
            }
            a[i][i] += 1.0 / (sd_[i] * sd_[i]);
            b[i] -= x[i] / (sd_[i] * sd_[i]);
        }
        return solve(a, b);
    }

    static constexpr double knee = 0.05;
    const std::vector<double>& measured_;
    const LogTimes& forecast_;
    Vector sd_;
    double row_sd_;
};

}  // namespace

Result<GroupOffsets> fit_group_offsets(const std::vector<double>& measured_log_s, const LogTimes& forecast,
                                       const GroupPrior& prior) {
    if (measured_log_s.empty()) return GroupOffsets{};
    return Fit(measured_log_s, forecast, prior).run();
}

}  // namespace dlcast
