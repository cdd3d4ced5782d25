// SPDX-License-Identifier: GPL-2.0-or-later
// What the plugin did since it was opened, in the text format that Prometheus' textfile collector reads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace dlcast {

enum class Count {
    submissions,  // with a declared model
    torch,        // forecasts by the network
    analytic,     // forecasts by the analytic model
    remembered,   // of both, those that were known already
    fallbacks,    // by the analytic model where the network should have answered
    errors,       // without a forecast
    rejections,
    size
};

/// Safe from several threads at once; never grows.
class Counters {
public:
    void add(Count what) { counts_[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed); }
    void took(double seconds);

    std::uint64_t count(Count what) const {
        return counts_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
    }
    /// Upper end of the bucket that holds quantile q of the times (buckets grow by 2^(1/4)); 0 where there is none.
    double quantile_s(double q) const;
    /// Of all counts, for "has anything happened?".
    std::uint64_t events() const { return count(Count::submissions); }

    /// Metrics `dlcast_*` in the text format of Prometheus: one HELP and TYPE line each, counts ending in _total.
    std::string metrics() const;

private:
    static constexpr int buckets_per_octave = 4;
    static constexpr double first_s = 1e-6;
    static constexpr std::size_t buckets = 4 * 24;  // to 16 s
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Count::size)> counts_{};
    std::array<std::atomic<std::uint64_t>, buckets> times_{};
    std::atomic<std::uint64_t> sum_ns_{0};
};

/// One metric that stands still: "# HELP", "# TYPE gauge", "name{labels} value".
std::string gauge(const std::string& name, const std::string& help, const std::string& labels, double value);

}  // namespace dlcast
