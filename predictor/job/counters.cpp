// SPDX-License-Identifier: GPL-2.0-or-later
// Format: https://prometheus.io/docs/instrumenting/exposition_formats/
#include "predictor/job/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

std::string head(const std::string& name, const std::string& help, const char* type) {
    return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

}  // namespace

void Counters::took(double seconds) {
    const double place = buckets_per_octave * std::log2(std::max(seconds, first_s) / first_s);
    const auto index = std::min(buckets - 1, static_cast<std::size_t>(std::max(0.0, place)));
    times_[index].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(static_cast<std::uint64_t>(std::max(0.0, seconds) * 1e9), std::memory_order_relaxed);
}

double Counters::quantile_s(double q) const {
    std::array<std::uint64_t, buckets> times{};
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < buckets; ++i) all += times[i] = times_[i].load(std::memory_order_relaxed);
    if (all == 0) return 0.0;
    std::uint64_t below = 0;
    std::size_t i = 0;
    while (i + 1 < buckets && static_cast<double>(below + times[i]) < q * static_cast<double>(all)) below += times[i++];
    return first_s * std::exp2(static_cast<double>(i + 1) / buckets_per_octave);
}

std::string Counters::metrics() const {
    std::string out;
    const auto total = [&](const char* name, const char* help, Count what) {
        const std::string metric = std::string("dlcast_") + name + "_total";
        out += head(metric, help, "counter") + fmt::format("{} {}\n", metric, count(what));
    };
    total("submissions", "Submissions that declared a model.", Count::submissions);
    out += head("dlcast_forecasts_total", "Forecasts made, by what made them.", "counter");
    out += fmt::format("dlcast_forecasts_total{{by=\"torch\"}} {}\n", count(Count::torch));
    out += fmt::format("dlcast_forecasts_total{{by=\"analytic\"}} {}\n", count(Count::analytic));
    total("remembered_forecasts", "Forecasts that were known from an equal submission.", Count::remembered);
    total("fallbacks", "Forecasts by the analytic model where the network should have answered.", Count::fallbacks);
    total("errors", "Submissions without a forecast.", Count::errors);
    total("rejections", "Submissions that were refused.", Count::rejections);
    out += head("dlcast_forecast_seconds", "Time inside the plugin of a submission with a model.", "summary");
    for (const double q : {0.5, 0.99})
        out += fmt::format("dlcast_forecast_seconds{{quantile=\"{}\"}} {:.3g}\n", q, quantile_s(q));
    out += fmt::format("dlcast_forecast_seconds_sum {:.6f}\n",
                       1e-9 * static_cast<double>(sum_ns_.load(std::memory_order_relaxed)));
    std::uint64_t all = 0;
    for (const auto& bucket : times_) all += bucket.load(std::memory_order_relaxed);
    out += fmt::format("dlcast_forecast_seconds_count {}\n", all);
    return out;
}

std::string gauge(const std::string& name, const std::string& help, const std::string& labels, double value) {
    return head(name, help, "gauge") +
           (labels.empty() ? fmt::format("{} {}\n", name, value) : fmt::format("{}{{{}}} {}\n", name, labels, value));
}

}  // namespace dlcast
