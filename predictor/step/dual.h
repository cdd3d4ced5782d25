// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers that carry their derivatives by N variables: one formula serves the forecast (double) and the fit (Dual).
// Source: forward-mode automatic differentiation, e.g. Griewank & Walther, Evaluating Derivatives (SIAM, 2008), ch. 3.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace dlcast {

template <std::size_t N>
struct Dual {
    double value = 0.0;
    std::array<double, N> slope{};  // derivative by each variable

    Dual() = default;
    Dual(double v) : value(v) {}  // a constant; implicit, so that formulas mix freely

    /// f(*this), for f with value `v` and derivative `by` there.
    Dual chain(double v, double by) const {
        Dual out(v);
        for (std::size_t i = 0; i < N; ++i) out.slope[i] = by * slope[i];
        return out;
    }
    Dual& operator+=(const Dual& o) {
        value += o.value;
        for (std::size_t i = 0; i < N; ++i) slope[i] += o.slope[i];
        return *this;
    }
    Dual& operator*=(double o) {
        value *= o;
        for (double& s : slope) s *= o;
        return *this;
    }
};

template <std::size_t N>
Dual<N> operator+(Dual<N> a, const Dual<N>& b) {
    return a += b;
}
template <std::size_t N>
Dual<N> operator+(Dual<N> a, double b) {
    a.value += b;
    return a;
}
template <std::size_t N>
Dual<N> operator+(double a, Dual<N> b) {
    b.value += a;
    return b;
}
template <std::size_t N>
Dual<N> operator-(Dual<N> a, const Dual<N>& b) {
    a.value -= b.value;
    for (std::size_t i = 0; i < N; ++i) a.slope[i] -= b.slope[i];
    return a;
}
template <std::size_t N>
Dual<N> operator-(Dual<N> a, double b) {
    a.value -= b;
    return a;
}
template <std::size_t N>
Dual<N> operator-(double a, const Dual<N>& b) {
    return b.chain(a - b.value, -1.0);
}
template <std::size_t N>
Dual<N> operator*(const Dual<N>& a, const Dual<N>& b) {
    Dual<N> out(a.value * b.value);
    for (std::size_t i = 0; i < N; ++i) out.slope[i] = a.slope[i] * b.value + b.slope[i] * a.value;
    return out;
}
template <std::size_t N>
Dual<N> operator*(Dual<N> a, double b) {
    return a *= b;
}
template <std::size_t N>
Dual<N> operator*(double a, Dual<N> b) {
    return b *= a;
}
template <std::size_t N>
Dual<N> operator/(const Dual<N>& a, const Dual<N>& b) {
    const double inverse = 1.0 / b.value;
    Dual<N> out(a.value * inverse);
    for (std::size_t i = 0; i < N; ++i) out.slope[i] = (a.slope[i] - out.value * b.slope[i]) * inverse;
    return out;
}
template <std::size_t N>
Dual<N> operator/(Dual<N> a, double b) {
    return a *= 1.0 / b;
}
template <std::size_t N>
Dual<N> operator/(double a, const Dual<N>& b) {
    return b.chain(a / b.value, -a / (b.value * b.value));
}
template <std::size_t N>
Dual<N> exp(const Dual<N>& a) {
    const double v = std::exp(a.value);
    return a.chain(v, v);
}
template <std::size_t N>
Dual<N> log(const Dual<N>& a) {
    return a.chain(std::log(a.value), 1.0 / a.value);
}
template <std::size_t N>
Dual<N> pow(const Dual<N>& a, double p) {
    const double v = std::pow(a.value, p);
    return a.chain(v, a.value != 0.0 ? p * v / a.value : 0.0);
}
template <std::size_t N>
Dual<N> sqrt(const Dual<N>& a) {
    const double v = std::sqrt(a.value);
    return a.chain(v, v != 0.0 ? 0.5 / v : 0.0);
}
template <std::size_t N>
Dual<N> max(const Dual<N>& a, const Dual<N>& b) {
    return a.value >= b.value ? a : b;
}

inline double value_of(double a) { return a; }
template <std::size_t N>
double value_of(const Dual<N>& a) {
    return a.value;
}

/// A formula that takes few of its numbers often: in its place the K terms it depends on stand as variables of their
/// own, and in_terms_of() gives the result the slopes of the terms (the chain rule). Plain numbers stay as they are.
template <std::size_t N, std::size_t K>
std::array<Dual<K>, K> local_variables(const std::array<Dual<N>, K>& terms) {
    std::array<Dual<K>, K> out;
    for (std::size_t k = 0; k < K; ++k) {
        out[k].value = terms[k].value;
        out[k].slope[k] = 1.0;
    }
    return out;
}
template <std::size_t K>
const std::array<double, K>& local_variables(const std::array<double, K>& terms) {
    return terms;
}
template <std::size_t N, std::size_t K>
Dual<N> in_terms_of(const Dual<K>& local, const std::array<Dual<N>, K>& terms) {
    Dual<N> out(local.value);
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t i = 0; i < N; ++i) out.slope[i] += local.slope[k] * terms[k].slope[i];
    return out;
}
template <std::size_t K>
double in_terms_of(double local, const std::array<double, K>&) {
    return local;
}

}  // namespace dlcast
