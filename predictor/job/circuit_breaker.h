// SPDX-License-Identifier: GPL-2.0-or-later
// Leaves a part that fails or dawdles alone for a while.
#pragma once

#include <atomic>
#include <chrono>

namespace dlcast {

/// Opens after three bad calls in a row and lets one call try again a minute later. Safe from several threads.
class CircuitBreaker {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr int strikes = 3;
    static constexpr std::chrono::seconds rest{60};

    bool allows(Clock::time_point now) const {
        return now.time_since_epoch().count() >= open_until_.load(std::memory_order_relaxed);
    }
    /// True where this call closed the breaker.
    bool good() { return bad_calls_.exchange(0, std::memory_order_relaxed) >= strikes; }
    /// How many calls in a row were bad, where this one opened the breaker; else 0.
    int bad(Clock::time_point now) {
        const int in_a_row = bad_calls_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (in_a_row < strikes) return 0;
        open_until_.store((now + rest).time_since_epoch().count(), std::memory_order_relaxed);
        return in_a_row;
    }

private:
    std::atomic<int> bad_calls_{0};
    std::atomic<Clock::rep> open_until_{Clock::time_point::min().time_since_epoch().count()};
};

}  // namespace dlcast
