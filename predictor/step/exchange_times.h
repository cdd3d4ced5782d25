// SPDX-License-Identifier: GPL-2.0-or-later
// How long a step's messages take, and how much of that compute does not hide. T is double for a forecast and a Dual
// for the fit.
#pragma once

#include <array>
#include <vector>

#include "predictor/step/dual.h"
#include "predictor/step/step_exchange.h"
#include "predictor/step/step_rates.h"

namespace dlcast {

/// One micro-step's compute on this GPU.
template <class T>
struct MicroStep {
    T forward_s{0.0}, backward_s{0.0};
};

template <class T>
struct ExchangeTimes {
    T all_s{0.0}, exposed_s{0.0};
    void add(const T& messages_s, const T& hidden) {
        all_s += messages_s;
        exposed_s += (1.0 - hidden) * messages_s;
    }
};

template <class T>
class ExchangeClock {
public:
    ExchangeClock(const StepWork& work, const StepConstants<T>& c) : work_(work), x_(work.exchange), c_(c) {}

    ExchangeTimes<T> times(const MicroStep<T>& micro) const {
        ExchangeTimes<T> out;
        add_gradients(out, micro.backward_s);
        add_sharded(out, micro);
        add_model_parallel(out);
        return out;
    }

private:
    using K = StepConstant;

    T seconds(const Message& message) const {
        if (message.alone_s <= 0) return T(0.0);
        const K rate = message.wire == Wire::network ? K::network : message.wire == Wire::pcie ? K::pcie : K::nvlink;
        return message.alone_s / c_(rate) + c_(K::message_s);
    }

    // Buckets wait for their gradients and for each other, in one stream.
    void add_gradients(ExchangeTimes<T>& out, const T& window_s) const {
        using std::max;
        const bool horovod = work_.software.horovod;
        const T hidden = c_(horovod ? K::horovod_overlap : K::ddp_overlap);
        T free_s(0.0), all_s(0.0);
        for (const GradientBucket& bucket : x_.buckets) {
            T one_s = seconds(bucket.reduce);
            if (horovod) one_s = one_s / c_(K::horovod_speed);
            free_s = max(free_s, T(window_s * (1.0 - (1.0 - bucket.ready) * hidden))) + one_s;
            all_s += one_s;
        }
        if (x_.buckets.empty()) return;
        out.all_s += all_s * x_.bucket_rounds;
        out.exposed_s += max(T(0.0), T(free_s - window_s)) * x_.bucket_rounds;
        out.add(seconds(x_.updated_weights), T(0.0));
    }

    // Exchange behind compute still costs a share: its kernels and copies stand in the same queue.
    void add_sharded(ExchangeTimes<T>& out, const MicroStep<T>& micro) const {
        using std::max;
        if (x_.units.empty()) return;
        const T speed = c_(K::sharded_speed);
        const std::array<T, 6> terms{micro.forward_s,
                                     micro.backward_s,
                                     1.0 / (c_(K::nvlink) * speed),
                                     1.0 / (c_(K::pcie) * speed),
                                     1.0 / (c_(K::network) * speed),
                                     c_(K::message_s) / speed};
        const auto delays = sharded_delays(local_variables(terms));
        const T all_s = in_terms_of(delays.all_s, terms), late_s = in_terms_of(delays.late_s, terms);
        const T hidden_s = max(T(0.0), T(all_s - late_s));
        out.all_s += all_s * work_.micro_steps;
        out.exposed_s += (late_s + (1.0 - c_(K::sharded_overlap)) * hidden_s) * work_.micro_steps;
    }

    // Of a micro-step, by the few terms that all its units share: a fit's many slopes are then met once, not unit by
    // unit.
    template <class L>
    struct ShardedDelays {
        L all_s{0.0}, late_s{0.0};
    };

    template <class L>
    ShardedDelays<L> sharded_delays(const std::array<L, 6>& terms) const {
        const auto seconds = [&terms](const Message& message) {
            if (message.alone_s <= 0) return L(0.0);
            const std::size_t wire = message.wire == Wire::network ? 4 : message.wire == Wire::pcie ? 3 : 2;
            return L(message.alone_s * terms[wire] + terms[5]);
        };
        ShardedDelays<L> out;
        add_forward_delay(terms[0], seconds, out);
        if (!work_.forward_only) add_backward_delay(terms[1], seconds, out);
        return out;
    }

    // One stream gathers a unit's weights while the unit before computes, at most two units at once.
    template <class L, class Seconds>
    void add_forward_delay(const L& compute_s, const Seconds& seconds, ShardedDelays<L>& out) const {
        using std::max;
        L wire_s(0.0), end_s(0.0), end_before_s(0.0);
        for (const ShardedUnit& unit : x_.units) {
            const L one_s = seconds(unit.gather);
            out.all_s += one_s;
            wire_s = max(wire_s, end_before_s) + one_s;
            end_before_s = end_s;
            end_s = max(end_s, wire_s) + compute_s * unit.forward_share;
        }
        out.late_s += max(L(0.0), L(end_s - compute_s));
    }

    // The same from the last unit to the first, with the gradients' scatters between.
    template <class L, class Seconds>
    void add_backward_delay(const L& compute_s, const Seconds& seconds, ShardedDelays<L>& out) const {
        using std::max;
        L wire_s(0.0), end_s(0.0), ready_s(0.0);
        const std::size_t n = x_.units.size();
        for (std::size_t i = n; i-- > 0;) {
            const ShardedUnit& unit = x_.units[i];
            if (x_.gathers_again && i + 1 == n) ready_s = wire_s = seconds(unit.gather), out.all_s += wire_s;
            const L start_s = max(end_s, ready_s);
            if (x_.gathers_again && i > 0) {  // of the next unit, while this one computes
                const L next_s = seconds(x_.units[i - 1].gather);
                wire_s = max(wire_s, end_s) + next_s;
                ready_s = wire_s;
                out.all_s += next_s;
            }
            end_s = start_s + compute_s * unit.backward_share;
            const L scatter_s = seconds(unit.scatter);
            wire_s = max(wire_s, end_s) + scatter_s;
            out.all_s += scatter_s;
        }
        out.late_s += max(L(0.0), L(max(end_s, wire_s) - compute_s));
    }

    void add_model_parallel(ExchangeTimes<T>& out) const {
        const T nothing(0.0);
        if (x_.tensor_messages > 0)
            out.add(seconds(x_.tensor) * (x_.tensor_messages * work_.passes),
                    work_.software.hides_tensor_exchange ? c_(K::tensor_hidden) : nothing);
        // Keys and values in forward, again in backward, and their gradients.
        out.add(seconds(x_.ring) * ((work_.forward_only ? 1.0 : 3.0) * work_.passes), c_(K::ring_hidden));
        const double directions = work_.forward_only ? 1.0 : 2.0;
        out.add(seconds(x_.stage) * (directions * work_.layout.vp * work_.passes), nothing);
        out.add(seconds(x_.experts) * (x_.expert_messages * work_.passes), nothing);
    }

    const StepWork& work_;
    const StepExchange& x_;
    const StepConstants<T>& c_;
};

}  // namespace dlcast
