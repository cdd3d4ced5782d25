// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_physics.h"

#include <algorithm>
#include <cmath>

#include "predictor/step/step_rates.h"

namespace dlcast {

template <>
double StepConstants<double>::operator()(StepConstant which) const {
    return natural_value(which, fitted_[static_cast<std::size_t>(which)]);
}

template <>
StepDual StepConstants<StepDual>::operator()(StepConstant which) const {
    const auto i = static_cast<std::size_t>(which);
    StepDual out(natural_value(which, fitted_[i]));
    const bool odds = constant_facts()[i].scale == ConstantScale::odds;
    out.slope[i] = odds ? out.value * (1.0 - out.value) : out.value;
    return out;
}

namespace {

using K = StepConstant;
using std::max;

constexpr double slow_link_Bps = 60e9;     // below it a node's link is PCIe, or as slow
constexpr double accumulate_bytes = 12.0;  // per parameter and micro-step: read gradient and sum, write the sum
constexpr double fused_update_launches = 12;
constexpr double no_update_host = 0.1;  // share of a step's host time that loops without an optimizer need

/// A collective around a group, `passes` (p-1)/p of the bytes through each link: an all-reduce is two, a gather one.
template <class T>
T ring_s(const Group& group, double bytes, double passes, const StepConstants<T>& c) {
    const int ranks = group.ranks();
    if (ranks < 2) return T(0.0);
    T seconds_per_byte(0.0);
    if (group.ranks_per_node > 1) {
        const double raw_Bps = group.intra_node.bandwidth_Bps;
        seconds_per_byte = 1.0 / (raw_Bps * c(raw_Bps < slow_link_Bps ? K::pcie : K::nvlink));
    }
    if (group.nodes > 1) {
        // Every rank of a node sends at once: rings cross the network with the node's whole bandwidth.
        const double raw_Bps = group.inter_node.bandwidth_Bps * group.ranks_per_node;
        seconds_per_byte = smooth_larger(seconds_per_byte, T(1.0 / (raw_Bps * c(K::network))));
    }
    const double p = ranks;
    const double messages = std::min(p - 1, 2.0 * std::log2(p)) / 2;  // trees keep many ranks from waiting in line
    return passes * ((p - 1) / p * bytes * seconds_per_byte + messages * c(K::message_s));
}

template <class T>
T device_s(const std::vector<WorkItem>& items, const KernelRates<T>& rates) {
    T sum(0.0);
    for (const WorkItem& item : items) sum += item.count * call_s(item, rates);
    return sum;
}

double kernels(const std::vector<WorkItem>& items) {
    double sum = 0;
    for (const WorkItem& item : items) sum += item.count * item.kernels;
    return sum;
}

template <class T>
class StepClock {
public:
    StepClock(const StepWork& work, const StepCoefficients& coefficients)
        : work_(work), c_(coefficients), rates_(kernel_rates(work, c_)) {}

    StepTimes<T> times() const {
        StepTimes<T> out;
        const T forward_s = phase_s(work_.forward);
        T backward_s(0.0);
        if (!work_.forward_only) backward_s = backward_micro_s();
        const T passes = work_.stage * work_.passes * waiting();
        out.forward_s = forward_s * passes;
        out.backward_s = backward_s * passes;
        add_gradients(out, T(backward_s * work_.stage));
        add_gathers(out, T(forward_s * work_.stage), T(backward_s * work_.stage));
        add_model_exchange(out);
        if (!work_.update.empty()) out.update_s = smooth_larger(device_s(work_.update, rates_), update_launches_s());
        out.host_s = c_(by_host(K::eager_step_s, K::session_step_s, K::graph_step_s));
        if (work_.update.empty()) out.host_s = no_update_host * out.host_s;
        out.step_s = out.forward_s + out.backward_s + out.update_s + out.exposed_s + out.host_s;
        return out;
    }

private:
    K by_host(K eager, K session, K graph) const {
        if (work_.software.host == Host::eager) return eager;
        return work_.software.host == Host::session ? session : graph;
    }
    T kernel_host_s() const { return c_(by_host(K::eager_kernel_s, K::session_kernel_s, K::graph_kernel_s)); }

    // A session's executor adds to its kernels (half of them where a compiler joins them); elsewhere the host runs
    // ahead unless it is the slower.
    T phase_s(const std::vector<WorkItem>& items) const {
        T busy_s = c_(work_.software.factor) * device_s(items, rates_);
        if (work_.software.compiled) busy_s = busy_s * c_(K::software_compiled);
        const T host_s = kernels(items) * kernel_host_s();
        if (work_.software.host == Host::session) return busy_s + (work_.software.compiled ? 0.5 : 1.0) * host_s;
        return smooth_larger(busy_s, host_s);
    }

    T backward_micro_s() const {
        T seconds = phase_s(work_.backward);
        if (work_.micro_steps > 1)
            seconds += (accumulate_bytes * work_.parameters / work_.stage) *
                       rates_.per_byte[static_cast<std::size_t>(WorkClass::update)];
        if (world() > 1) seconds = seconds * (1.0 + c_(K::interference));
        return seconds;
    }

    int world() const { return work_.layout.dp * work_.layout.tp * work_.layout.pp * work_.layout.cp; }

    T waiting() const {
        if (world() < 2) return T(1.0);
        const double in_node = std::min(1.0, std::log2(static_cast<double>(world())) / 3.0);
        return 1.0 + c_(K::straggler) * in_node +
               c_(K::straggler_nodes) * std::log2(static_cast<double>(std::max(1, work_.nodes)));
    }

    // Buckets wait for their gradients and for each other, in one stream.
    void add_gradients(StepTimes<T>& out, const T& window_s) const {
        const bool horovod = work_.software.horovod;
        const T hidden = c_(horovod ? K::horovod_overlap : K::ddp_overlap);
        T free_s(0.0);
        for (const GradientBucket& bucket : work_.buckets) {
            T one_s = ring_s(work_.layout.data, bucket.bytes, 2.0, c_);
            if (horovod) one_s = one_s / c_(K::horovod_speed);
            free_s = max(free_s, T(window_s * (1.0 - (1.0 - bucket.ready) * hidden))) + one_s;
            out.communication_s += one_s;
        }
        if (!work_.buckets.empty()) out.exposed_s += max(T(0.0), T(free_s - window_s));
    }

    // A gather in forward; a gather and a reduce-scatter in backward; each micro-step.
    void add_gathers(StepTimes<T>& out, const T& forward_s, const T& backward_s) const {
        if (work_.gathered_bytes <= 0) return;
        const T one_s = ring_s(work_.layout.data, work_.gathered_bytes, 1.0, c_) / c_(K::sharded_speed);
        const T hidden = c_(K::sharded_overlap);
        const auto exposed = [&](const T& traffic_s, const T& compute_s) {
            return T((1.0 - hidden) * traffic_s + max(T(0.0), T(hidden * traffic_s - compute_s)));
        };
        out.communication_s += (work_.forward_only ? 1.0 : 3.0) * work_.micro_steps * one_s;
        out.exposed_s += work_.micro_steps * exposed(one_s, forward_s);
        if (!work_.forward_only) out.exposed_s += work_.micro_steps * exposed(T(2.0 * one_s), backward_s);
    }

    void add_model_exchange(StepTimes<T>& out) const {
        const auto add = [&out](const T& all_s, const T& hidden) {
            out.communication_s += all_s;
            out.exposed_s += (1.0 - hidden) * all_s;
        };
        if (work_.tensor_messages > 0) {
            const T one_s = ring_s(work_.layout.tensor, work_.tensor_message_bytes, 2.0, c_);
            add(one_s * (work_.tensor_messages * work_.passes),
                work_.software.hides_tensor_exchange ? c_(K::tensor_hidden) : T(0.0));
        }
        if (work_.ring_bytes > 0)
            add(ring_s(work_.layout.context, work_.ring_bytes, work_.forward_only ? 1.0 : 3.0, c_) * work_.passes,
                c_(K::ring_hidden));
        if (work_.stage_bytes > 0) {
            const Link& link = work_.nodes > 1 ? work_.layout.data.inter_node : work_.layout.data.intra_node;
            if (link.bandwidth_Bps > 0)
                add(work_.stage_bytes / (link.bandwidth_Bps * c_(K::network)) * (2.0 * work_.layout.vp * work_.passes),
                    T(0.0));
        }
    }

    T update_launches_s() const {
        const bool fused = work_.software.fused_update || work_.software.compiled;
        const T launches = fused ? T(fused_update_launches) : T(work_.tensors * c_(K::update_kernels));
        return launches * kernel_host_s();
    }

    const StepWork& work_;
    StepConstants<T> c_;
    KernelRates<T> rates_;
};

}  // namespace

StepTimes<double> step_times(const StepWork& work, const StepCoefficients& coefficients) {
    return StepClock<double>(work, coefficients).times();
}

StepTimes<StepDual> step_slopes(const StepWork& work, const StepCoefficients& coefficients) {
    return StepClock<StepDual>(work, coefficients).times();
}

std::vector<LayerSeconds> layer_seconds(const StepWork& work, const StepCoefficients& coefficients) {
    const StepConstants<double> c(coefficients);
    const KernelRates<double> rates = kernel_rates(work, c);
    double factor = c(work.software.factor);
    if (work.software.compiled) factor *= c(K::software_compiled);
    std::vector<LayerSeconds> out;
    for (const LayerWork& layer : work.layers) {
        double compute_s = 0, memory_s = 0, gaps_s = 0;
        const auto add = [&](const std::vector<WorkItem>& items) {
            for (const WorkItem& item : items) {
                if (is_product(item.work)) compute_s += item.count * arithmetic_s(item, rates);
                memory_s += item.count * traffic_s(item, rates);
                gaps_s += item.count * item.kernels * rates.gap_s;
            }
            return factor * device_s(items, rates);
        };
        LayerSeconds seconds{add(layer.forward), add(layer.backward)};
        seconds.bound = gaps_s > max(compute_s, memory_s) ? "launch" : compute_s > memory_s ? "compute" : "memory";
        out.push_back(seconds);
    }
    return out;
}

}  // namespace dlcast
