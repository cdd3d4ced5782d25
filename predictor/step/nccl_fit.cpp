// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/nccl_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "predictor/step/nccl_equations.h"

namespace dlcast {
namespace {

constexpr double residual_scale = 0.12;  // of log(time): what separates signal from outlier
constexpr double prior_weight = 2.5;     // residuals of one table go together, so priors count for more than a row
constexpr double site_launch_sd = 0.25, site_bandwidth_sd = 0.1;
constexpr double typical_rows = 60.0;  // of a site, whose rows then weigh 1 each
constexpr double derivative_step = 1e-3;
constexpr int most_rounds = 40;

// Logarithms of all constants, then launch and bandwidth of each site.
using Point = std::vector<double>;

std::vector<double> flat(const NcclConstants& constants) {
    std::vector<double> out;
    for_each_constant(constants, [&](const std::string&, double value) { out.push_back(value); });
    return out;
}

NcclConstants constants_at(const Point& point) {
    NcclConstants constants;
    std::size_t i = 0;
    for_each_constant(constants, [&](const std::string&, double& value) { value = std::exp(point[i++]); });
    return constants;
}

struct Row {
    CollectiveObservation seen;
    double log_time = 0.0, weight = 1.0;
};

class Fit {
public:
    Fit(std::span<const CollectiveObservation> rows, const NcclPriors& priors) : sd_(flat(priors.log_sd)) {
        for (const double median : flat(priors.median)) prior_.push_back(std::log(median));
        const NcclConstants start = constants_at(prior_);
        std::size_t sites = 0;
        for (const auto& row : rows) {
            if (!(row.time_us > 0) || !predict(row, start, {})) continue;
            rows_.push_back({row, std::log(row.time_us), 1.0});
            sites = std::max(sites, row.site + 1);
        }
        std::vector<double> count(sites, 0.0);
        for (const Row& row : rows_) count[row.seen.site] += 1;
        for (Row& row : rows_) row.weight = std::sqrt(typical_rows / count[row.seen.site]);
        constants_ = prior_.size();
        prior_.resize(constants_ + 2 * sites, 0.0);
    }

    NcclConstants run() const {
        Point point = prior_;
        if (rows_.empty()) return constants_at(point);
        double cost = cost_at(point), damping = 1e-2;
        for (int round = 0; round < most_rounds && damping < 1e6; ++round) {
            const NormalEquations equations = linearised(point);
            double gained = 0;
            for (; damping < 1e6; damping *= 8) {
                Point next = point;
                const auto step = equations.solve(damping);
                for (std::size_t i = 0; i < next.size(); ++i) next[i] += std::clamp(step[i], -0.5, 0.5);
                const double next_cost = cost_at(next);
                if (!(next_cost < cost)) continue;
                gained = (cost - next_cost) / cost;
                point = std::move(next);
                cost = next_cost;
                damping = std::max(1e-6, damping / 10);
                break;
            }
            if (gained < 1e-5) break;
        }
        return constants_at(point);
    }

private:
    static double predict(const CollectiveObservation& row, const NcclConstants& constants, const SiteFactors& site) {
        const auto time =
            nccl_time(row.collective, row.bytes, row.ranks_per_node, row.nodes, *row.fabric, constants, site);
        return time ? time->median_us : 0.0;
    }
    SiteFactors site_at(const Point& point, std::size_t site) const {
        return {std::exp(point[constants_ + 2 * site]), std::exp(point[constants_ + 2 * site + 1])};
    }
    bool is_site_launch(std::size_t i) const { return i >= constants_ && (i - constants_) % 2 == 0; }
    double sd_of(std::size_t i) const {
        if (i < constants_) return sd_[i];
        return is_site_launch(i) ? site_launch_sd : site_bandwidth_sd;
    }

    double cost_at(const Point& point) const {
        const NcclConstants constants = constants_at(point);
        double cost = 0;
        for (const Row& row : rows_) {
            const double r =
                (std::log(predict(row.seen, constants, site_at(point, row.seen.site))) - row.log_time) / residual_scale;
            cost += row.weight * std::log1p(r * r / 2);
        }
        for (std::size_t i = 0; i < point.size(); ++i) {
            const double z = (point[i] - prior_[i]) / sd_of(i);
            cost += prior_weight * prior_weight * 0.5 * (is_site_launch(i) ? std::log1p(z * z) : z * z);
        }
        return cost;
    }

    NormalEquations linearised(const Point& point) const {
        const NcclConstants constants = constants_at(point);
        std::vector<NcclConstants> moved;
        for (std::size_t i = 0; i < constants_; ++i) {
            Point there = point;
            there[i] += derivative_step;
            moved.push_back(constants_at(there));
        }
        NormalEquations equations(point.size());
        std::vector<std::pair<std::size_t, double>> slope;
        for (const Row& row : rows_) {
            const SiteFactors site = site_at(point, row.seen.site);
            const double here = std::log(predict(row.seen, constants, site));
            const double r = (here - row.log_time) / residual_scale;
            const auto add = [&](std::size_t i, double there) {
                const double d = (std::log(there) - here) / (derivative_step * residual_scale);
                if (d != 0) slope.emplace_back(i, d);
            };
            slope.clear();
            for (std::size_t i = 0; i < constants_; ++i) add(i, predict(row.seen, moved[i], site));
            const std::size_t own = constants_ + 2 * row.seen.site;
            const double up = std::exp(derivative_step);
            add(own, predict(row.seen, constants, {site.launch * up, site.bandwidth}));
            add(own + 1, predict(row.seen, constants, {site.launch, site.bandwidth * up}));
            equations.add(slope, r, row.weight / (1 + r * r / 2));
        }
        for (std::size_t i = 0; i < point.size(); ++i) {
            const double z = (point[i] - prior_[i]) / sd_of(i);
            const double weight = prior_weight * prior_weight / (is_site_launch(i) ? 1 + z * z : 1);
            equations.add({{i, 1 / sd_of(i)}}, z, weight);
        }
        return equations;
    }

    std::vector<double> sd_;
    Point prior_;
    std::vector<Row> rows_;
    std::size_t constants_ = 0;
};

}  // namespace

NcclConstants fit_collectives(std::span<const CollectiveObservation> rows, const NcclPriors& priors) {
    return Fit(rows, priors).run();
}

}  // namespace dlcast
