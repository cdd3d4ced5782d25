// SPDX-License-Identifier: GPL-2.0-or-later
// Seconds of one kernel: what a device sustains, by the constants of the model. T is double for a forecast and a Dual
// for the fit.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "predictor/step/device_constants.h"
#include "predictor/step/dual.h"
#include "predictor/step/step_coefficients.h"
#include "predictor/step/step_work.h"

namespace dlcast {

/// The constants on their natural scale.
template <class T>
class StepConstants {
public:
    explicit StepConstants(const StepCoefficients& fitted) {
        for (std::size_t i = 0; i < constant_count; ++i)
            natural_[i] = natural_value(static_cast<StepConstant>(i), fitted[i]);
    }
    T operator()(StepConstant which) const;

private:
    std::array<double, constant_count> natural_;
};

/// (a^4 + b^4)^(1/4): the larger of two limits, somewhat more where they are alike.
template <class T>
T fourth_power(const T& x) {
    const T square = x * x;
    return square * square;
}
template <class T>
T smooth_larger(const T& a, const T& b) {
    using std::sqrt;
    return sqrt(sqrt(fourth_power(a) + fourth_power(b)));
}
// Of doubles without pow(), which costs as much as a kernel's other terms together.
inline double eighth_power(double x) { return fourth_power(x) * fourth_power(x); }
inline double eighth_root(double x) { return std::sqrt(std::sqrt(std::sqrt(x))); }
template <std::size_t N>
Dual<N> eighth_power(const Dual<N>& x) {
    return pow(x, 8.0);
}
template <std::size_t N>
Dual<N> eighth_root(const Dual<N>& x) {
    return pow(x, 0.125);
}
/// The smaller of a value and a limit, smoothly.
template <class T, class U>
T smooth_cap(const T& x, const U& cap) {
    return x / eighth_root(T(1.0 + eighth_power(T(x / cap))));
}

template <class T>
struct KernelRates {
    using PerUnit = std::array<T, static_cast<std::size_t>(ArithmeticUnit::size)>;
    // Seconds of one operation, by class of product and unit; of one byte, by class; of one access.
    std::array<PerUnit, static_cast<std::size_t>(WorkClass::elementwise)> per_flop{};
    std::array<T, static_cast<std::size_t>(WorkClass::size)> per_byte{};
    T per_access{0.0}, gap_s{0.0}, l2_saving{0.0}, fusion{1.0}, turning{1.0}, strided{1.0};
    T backward_product{1.0}, weight_gradient{1.0}, winograd{1.0}, reduction_length{0.0}, tile_power{0.0};
    double l2_bytes = 0;
};

/// Which classes of kernels a step has, and on which units: the others need no rates, which with their slopes by all
/// the constants are half of what makes a step's spread.
struct MetClasses {
    std::array<std::array<bool, static_cast<std::size_t>(ArithmeticUnit::size)>,
               static_cast<std::size_t>(WorkClass::elementwise)>
        multiplies{};
    std::array<bool, static_cast<std::size_t>(WorkClass::size)> moves{};
};
MetClasses met_classes(const StepWork& step);

constexpr double highest_share = 0.95;  // of a sustained rate

/// Of a product against a matrix product on the same unit.
template <class T>
T product_share(WorkClass work, ArithmeticUnit unit, const StepWork& step, const StepConstants<T>& c) {
    using K = StepConstant;
    const bool vector = unit == ArithmeticUnit::simt;
    switch (work) {
        case WorkClass::bmm:
            return c(vector ? K::bmm_simt : K::bmm_tensor);
        case WorkClass::conv:
            return c(vector ? K::conv_simt : unit == ArithmeticUnit::tf32 ? K::conv_tf32 : K::conv_half);
        case WorkClass::grouped:
            return c(K::grouped);
        case WorkClass::depthwise:
            return c(K::depthwise);
        case WorkClass::recurrent:
            return c(K::recurrent);
        case WorkClass::attention: {
            T share = c(K::attention);
            if (step.software.second_attention) share = share * c(K::attention_second);
            if (step.device.architecture == "hopper") share = share * c(K::attention_hopper);
            return share;
        }
        default:
            return T(1.0);
    }
}

template <class T>
void set_compute_rates(KernelRates<T>& rates, const MetClasses& met, const StepWork& step, const StepConstants<T>& c) {
    using K = StepConstant;
    constexpr std::array<K, 4> base{K::product_simt, K::product_tf32, K::product_half, K::product_fp8};
    const DeviceConstants own = device_constants(step.device);
    for (std::size_t u = 0; u < base.size(); ++u) {
        const auto unit = static_cast<ArithmeticUnit>(u);
        const double peak = peak_flops_per_s(step.device, unit);
        const bool is_met =
            std::any_of(met.multiplies.begin(), met.multiplies.end(), [u](const auto& k) { return k[u]; });
        if (peak <= 0 || !is_met) continue;
        const bool vector = unit == ArithmeticUnit::simt;
        const T fed = fed_flops_per_w_s(step.device, unit) * c(vector ? K::simt_tflops_per_w : K::tensor_tflops_per_w);
        T sustained = smooth_cap(T(peak), fed);
        if (is_geforce(step.device)) sustained = sustained * c(K::geforce);
        T share = c(base[u]) * c(vector ? own.simt : own.tensor);
        if (unit == ArithmeticUnit::tf32) share = share * c(own.tf32);
        for (std::size_t k = 0; k < rates.per_flop.size(); ++k) {
            if (!met.multiplies[k][u]) continue;
            const T part = share * product_share(static_cast<WorkClass>(k), unit, step, c);
            rates.per_flop[k][u] = 1.0 / (sustained * smooth_cap(part, highest_share));
        }
    }
    rates.backward_product = c(K::backward_product);
    rates.weight_gradient = c(K::weight_gradient);
    rates.winograd = c(K::winograd);
    rates.reduction_length = c(K::reduction_length);
    rates.tile_power = c(K::tile_power);
}

template <class T>
void set_memory_rates(KernelRates<T>& rates, const MetClasses& met, const StepWork& step, const StepConstants<T>& c) {
    using K = StepConstant;
    // In the order of WorkClass.
    constexpr std::array<K, static_cast<std::size_t>(WorkClass::size)> streams{
        K::stream_product,   K::stream_product, K::stream_product,     K::stream_product, K::stream_depthwise,
        K::stream_product,   K::stream_product, K::stream_elementwise, K::stream_norm,    K::stream_pooling,
        K::stream_embedding, K::stream_loss,    K::stream_copy,        K::stream_update};
    T bandwidth_Bps = step.device.memory_bandwidth_Bps * c(device_constants(step.device).memory);
    if (is_geforce(step.device)) bandwidth_Bps = bandwidth_Bps * c(K::geforce);
    for (std::size_t k = 0; k < streams.size(); ++k)
        if (met.moves[k]) rates.per_byte[k] = 1.0 / (bandwidth_Bps * smooth_cap(c(streams[k]), highest_share));
    const double clocks_per_s = std::max(1, step.device.sm_count) * step.device.boost_clock_Hz;
    if (clocks_per_s > 0) rates.per_access = 1.0 / (c(K::accesses_per_clock) * clocks_per_s);
    rates.l2_bytes = step.device.l2_bytes;
    rates.l2_saving = smooth_cap(c(K::l2_saving), 0.9);
    rates.strided = c(K::strided);
    rates.turning = c(step.tf32 ? K::layout_tf32 : K::layout_half);
    if (step.software.fusion == Fusion::by_hand) rates.fusion = c(K::fused_by_hand);
    if (step.software.fusion == Fusion::by_compiler) rates.fusion = c(K::fused_by_compiler);
    if (step.software.fusion == Fusion::batch_norm) rates.fusion = c(K::fused_batch_norm);
    rates.gap_s = c(K::kernel_gap_s);
}

// Products come from the vendor's library in every software stack, row-wise kernels from the stack itself: of a stack's
// factor, products take this power. Chosen between 0 and 1 by leaving out kinds of models.
constexpr double product_stack_share = 0.5;

template <class T>
void apply_stack(KernelRates<T>& rates, const MetClasses& met, const StepWork& step, const StepConstants<T>& c) {
    using std::pow;
    T own = c(step.software.factor);
    if (step.software.compiled) own = own * c(StepConstant::software_compiled);
    const T of_products = pow(own, product_stack_share);
    for (std::size_t k = 0; k < rates.per_flop.size(); ++k)
        for (std::size_t u = 0; u < rates.per_flop[k].size(); ++u)
            if (met.multiplies[k][u]) rates.per_flop[k][u] = rates.per_flop[k][u] * of_products;
    for (std::size_t k = 0; k < rates.per_byte.size(); ++k) {
        const auto work = static_cast<WorkClass>(k);
        if (met.moves[k] && work != WorkClass::update)
            rates.per_byte[k] = rates.per_byte[k] * (is_product(work) ? of_products : own);
    }
    rates.per_access = rates.per_access * own;
    rates.gap_s = rates.gap_s * own;
}

/// Of the classes that the step meets; 0 for the others.
template <class T>
KernelRates<T> kernel_rates(const StepWork& step, const StepConstants<T>& c) {
    const MetClasses met = met_classes(step);
    KernelRates<T> rates;
    set_compute_rates(rates, met, step, c);
    set_memory_rates(rates, met, step, c);
    apply_stack(rates, met, step, c);
    return rates;
}

/// The rates that one kernel meets.
template <class T>
struct ItemRates {
    T per_flop, per_byte, per_access, gap_s, l2_saving, fusion, turning, strided, backward_product, weight_gradient,
        winograd, reduction_length, tile_power;
    double l2_bytes = 0;
};

inline constexpr std::size_t rates_of_item = 13;
/// Calls visit(of the item, of all kernels) for those that the item meets. Rates: KernelRates, const or not.
template <class T, class Rates, class Visit>
void for_each_rate(const WorkItem& item, ItemRates<T>& one, Rates& all, Visit visit) {
    const auto work = static_cast<std::size_t>(item.work);
    if (is_product(item.work)) visit(one.per_flop, all.per_flop[work][static_cast<std::size_t>(item.unit)]);
    visit(one.per_byte, all.per_byte[work]);
    visit(one.per_access, all.per_access);
    visit(one.gap_s, all.gap_s);
    visit(one.l2_saving, all.l2_saving);
    visit(one.fusion, all.fusion);
    visit(one.turning, all.turning);
    visit(one.strided, all.strided);
    visit(one.backward_product, all.backward_product);
    visit(one.weight_gradient, all.weight_gradient);
    visit(one.winograd, all.winograd);
    visit(one.reduction_length, all.reduction_length);
    visit(one.tile_power, all.tile_power);
}

/// Calls visit(a's, b's) for every rate.
template <class T, class U, class Visit>
void for_each_entry(const KernelRates<T>& a, const KernelRates<U>& b, Visit visit) {
    for (std::size_t k = 0; k < a.per_flop.size(); ++k)
        for (std::size_t u = 0; u < a.per_flop[k].size(); ++u) visit(a.per_flop[k][u], b.per_flop[k][u]);
    for (std::size_t k = 0; k < a.per_byte.size(); ++k) visit(a.per_byte[k], b.per_byte[k]);
    visit(a.per_access, b.per_access);
    visit(a.gap_s, b.gap_s);
    visit(a.l2_saving, b.l2_saving);
    visit(a.fusion, b.fusion);
    visit(a.turning, b.turning);
    visit(a.strided, b.strided);
    visit(a.backward_product, b.backward_product);
    visit(a.weight_gradient, b.weight_gradient);
    visit(a.winograd, b.winograd);
    visit(a.reduction_length, b.reduction_length);
    visit(a.tile_power, b.tile_power);
}

inline ItemRates<double> item_rates(const WorkItem& item, const KernelRates<double>& rates) {
    ItemRates<double> out{};
    for_each_rate(item, out, rates, [](double& one, double all) { one = all; });
    out.l2_bytes = rates.l2_bytes;
    return out;
}

/// Traffic over the sustained bandwidth, less what the cache keeps; row-wise kernels also need to issue their accesses,
/// which adds in quadrature.
template <class T>
T traffic_s(const WorkItem& item, const ItemRates<T>& rates) {
    using std::sqrt;
    T seconds = item.bytes * rates.per_byte;
    const double resident = rates.l2_bytes > 0 ? std::exp(-item.bytes / rates.l2_bytes) : 0.0;
    if (resident > 1e-6) seconds = seconds * (1.0 - rates.l2_saving * resident);
    if (item.accesses > 0) {
        const T issue_s = item.accesses * rates.per_access;
        seconds = sqrt(seconds * seconds + issue_s * issue_s);
    }
    // A row that the cache holds costs no more than its neighbours.
    if (item.strided) seconds = seconds * (1.0 + (rates.strided - 1.0) * (1.0 - resident));
    if (item.turns) seconds = seconds * rates.turning;
    return seconds;
}

template <class T>
T arithmetic_s(const WorkItem& item, const ItemRates<T>& rates) {
    using std::exp;
    T seconds = item.flops * rates.per_flop;
    if (item.reduction > 1) seconds = seconds * (1.0 + rates.reduction_length / item.reduction);
    if (item.fill < 1) seconds = seconds * exp(rates.tile_power * -std::log(item.fill));
    if (item.phase != Phase::forward) seconds = seconds / rates.backward_product;
    if (item.phase == Phase::backward_weight) seconds = seconds / rates.weight_gradient;
    if (item.winograd && item.unit == ArithmeticUnit::simt) seconds = seconds / rates.winograd;
    return seconds;
}

/// One call, with the gaps behind its kernels.
template <class T>
T call_s(const WorkItem& item, const ItemRates<T>& rates) {
    T busy_s = traffic_s(item, rates);
    if (is_product(item.work)) busy_s = smooth_larger(busy_s, arithmetic_s(item, rates));
    const bool fusible =
        item.work == WorkClass::elementwise || item.work == WorkClass::norm || item.work == WorkClass::copy;
    if (fusible) busy_s = busy_s * rates.fusion;
    return busy_s + item.kernels * rates.gap_s;
}

}  // namespace dlcast
