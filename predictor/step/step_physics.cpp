// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_physics.h"

#include <algorithm>
#include <cmath>

#include "predictor/step/exchange_times.h"
#include "predictor/step/step_rates.h"

namespace dlcast {

template <>
double StepConstants<double>::operator()(StepConstant which) const {
    return natural_[static_cast<std::size_t>(which)];
}

template <>
StepDual StepConstants<StepDual>::operator()(StepConstant which) const {
    const auto i = static_cast<std::size_t>(which);
    StepDual out(natural_[i]);
    const bool odds = constant_facts()[i].scale == ConstantScale::odds;
    out.slope[i] = odds ? out.value * (1.0 - out.value) : out.value;
    return out;
}

MetClasses met_classes(const StepWork& step) {
    MetClasses out;
    const auto add = [&out](const std::vector<WorkItem>& items) {
        for (const WorkItem& item : items) {
            const auto work = static_cast<std::size_t>(item.work);
            if (is_product(item.work)) out.multiplies[work][static_cast<std::size_t>(item.unit)] = true;
            out.moves[work] = true;
        }
    };
    for (const auto* items : {&step.forward, &step.backward, &step.update}) add(*items);
    out.moves[static_cast<std::size_t>(WorkClass::update)] = true;  // sums of micro-steps move as updates do
    return out;
}

namespace {

using K = StepConstant;
using std::max;

constexpr double accumulate_bytes = 12.0;  // per parameter and micro-step: read gradient and sum, write the sum
constexpr double no_update_host = 0.1;     // share of a step's host time that loops without an optimizer need

K by_host(Host host, K eager, K session, K graph) {
    if (host == Host::eager) return eager;
    return host == Host::session ? session : graph;
}

double device_s(const std::vector<WorkItem>& items, const KernelRates<double>& rates) {
    double sum = 0;
    for (const WorkItem& item : items) sum += item.count * call_s(item, item_rates(item, rates));
    return sum;
}

// The chain rule backwards: slopes of kernels by their few rates add up before each rate's slopes by the many constants
// are met.
StepDual device_s(const std::vector<WorkItem>& items, const KernelRates<StepDual>& rates) {
    using Local = Dual<rates_of_item>;
    KernelRates<double> by_rate;
    by_rate.fusion = by_rate.turning = by_rate.strided = 0;
    by_rate.backward_product = by_rate.weight_gradient = by_rate.winograd = 0;
    StepDual sum(0.0);
    for (const WorkItem& item : items) {
        ItemRates<Local> local{};
        std::size_t k = 0;
        for_each_rate(item, local, rates, [&k](Local& one, const StepDual& all) {
            one = Local(all.value);
            one.slope[k++] = 1.0;
        });
        local.l2_bytes = rates.l2_bytes;
        const Local t = call_s(item, local);
        sum.value += item.count * t.value;
        k = 0;
        for_each_rate(item, local, by_rate, [&](const Local&, double& all) { all += item.count * t.slope[k++]; });
    }
    for_each_entry(by_rate, rates, [&sum](double by, const StepDual& rate) {
        if (by == 0) return;
        for (std::size_t i = 0; i < constant_count; ++i) sum.slope[i] += by * rate.slope[i];
    });
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
        const ExchangeTimes<T> exchange =
            ExchangeClock<T>(work_, c_).times({T(forward_s * work_.stage), T(backward_s * work_.stage)});
        out.communication_s = exchange.all_s;
        out.exposed_s = exchange.exposed_s;
        // Kernels that move data take multiprocessors and memory from those that compute beside them.
        const T beside_s = c_(K::interference) * (exchange.all_s - exchange.exposed_s);
        (work_.forward_only ? out.forward_s : out.backward_s) += beside_s;
        if (!work_.update.empty()) out.update_s = smooth_larger(device_s(work_.update, rates_), update_launches_s());
        out.host_s = c_(host_step_constant(work_.software.host));
        if (work_.update.empty()) out.host_s = no_update_host * out.host_s;
        // What a CPU does between steps, it does as the device: a loop of its own takes microseconds.
        if (work_.device.vendor == "cpu") out.host_s = T(0.0);
        out.step_s = out.forward_s + out.backward_s + out.update_s + out.exposed_s + out.host_s;
        return out;
    }

private:
    T kernel_host_s() const {
        return c_(by_host(work_.software.host, K::eager_kernel_s, K::session_kernel_s, K::graph_kernel_s));
    }

    // A session's executor adds to its kernels (half of them where a compiler joins them); elsewhere the host runs
    // ahead unless it is the slower.
    T phase_s(const std::vector<WorkItem>& items) const {
        const T busy_s = device_s(items, rates_);
        const T host_s = kernels(items) * kernel_host_s();
        if (work_.software.host == Host::session) return busy_s + (work_.software.compiled ? 0.5 : 1.0) * host_s;
        return smooth_larger(busy_s, host_s);
    }

    T backward_micro_s() const {
        T seconds = phase_s(work_.backward);
        if (work_.micro_steps > 1)
            seconds += (accumulate_bytes * work_.parameters / work_.stage) *
                       rates_.per_byte[static_cast<std::size_t>(WorkClass::update)];
        return seconds;
    }

    int world() const { return work_.layout.dp * work_.layout.tp * work_.layout.pp * work_.layout.cp; }

    T waiting() const {
        if (world() < 2) return T(1.0);
        const double in_node = std::min(1.0, std::log2(static_cast<double>(world())) / 3.0);
        return 1.0 + c_(K::straggler) * in_node +
               c_(K::straggler_nodes) * std::log2(static_cast<double>(std::max(1, work_.nodes)));
    }

    T update_launches_s() const { return work_.update_launches * c_(K::update_kernels) * kernel_host_s(); }

    const StepWork& work_;
    StepConstants<T> c_;
    KernelRates<T> rates_;
};

}  // namespace

StepConstant host_step_constant(Host host) {
    return by_host(host, K::eager_step_s, K::session_step_s, K::graph_step_s);
}

StepTimes<double> step_times(const StepWork& work, const StepCoefficients& coefficients) {
    return StepClock<double>(work, coefficients).times();
}

StepTimes<StepDual> step_slopes(const StepWork& work, const StepCoefficients& coefficients) {
    return StepClock<StepDual>(work, coefficients).times();
}

std::vector<LayerSeconds> layer_seconds(const StepWork& work, const StepCoefficients& coefficients) {
    const StepConstants<double> c(coefficients);
    const KernelRates<double> rates = kernel_rates(work, c);
    std::vector<LayerSeconds> out;
    for (const LayerWork& layer : work.layers) {
        double compute_s = 0, memory_s = 0, gaps_s = 0;
        const auto add = [&](const std::vector<WorkItem>& items) {
            for (const WorkItem& item : items) {
                const ItemRates<double> own = item_rates(item, rates);
                if (is_product(item.work)) compute_s += item.count * arithmetic_s(item, own);
                memory_s += item.count * traffic_s(item, own);
                gaps_s += item.count * item.kernels * rates.gap_s;
            }
            return device_s(items, rates);
        };
        LayerSeconds seconds{add(layer.forward), add(layer.backward)};
        seconds.bound = gaps_s > max(compute_s, memory_s) ? "launch" : compute_s > memory_s ? "compute" : "memory";
        out.push_back(seconds);
    }
    return out;
}

}  // namespace dlcast
