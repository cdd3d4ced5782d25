// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/device_entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/repeat.h"

namespace dlcast {
namespace {

Operator large_product(Precision precision, std::int64_t size) {
    Operator op;
    op.kind = OperatorKind::linear;
    op.precision = precision;
    op.m = op.k = op.n = size;
    return op;
}

Operator large_convolution(Precision precision) {
    Operator op;
    op.kind = OperatorKind::conv2d;
    op.precision = precision;
    op.batch = 8;
    op.in_ch = op.out_ch = 512;
    op.in_h = op.in_w = op.out_h = op.out_w = 28;
    op.kernel_h = op.kernel_w = 1;
    return op;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

}  // namespace

double measured_flops_per_s(Backend& backend, Precision precision, double most_s) {
    constexpr int runs = 7;
    constexpr double longest_s = 0.5;  // of one product, where others compute too
    const double end_s = steady_now_s() + most_s;
    double best = 0.0;
    std::vector<Operator> products{large_product(precision, 1024), large_convolution(precision)};
    if (backend.device().driver != "") products.push_back(large_product(precision, 8192));
    for (const Operator& op : products) {
        if (best > 0.0 && steady_now_s() > end_s) break;
        auto work = backend.prepare(op);
        if (!work) continue;
        const double stop_s = std::min(steady_now_s() + longest_s, end_s);
        for (int i = 0; i < runs && (i == 0 || steady_now_s() < stop_s); ++i)
            best = std::max(best, flops(op) / (*work)->run_s());
    }
    return best;
}

std::string to_toml(const CatalogEntry& entry) {
    const Device& d = entry.device;
    std::string out = "[[gpu]]\n";
    const auto text = [&out](const char* key, const std::string& value) {
        if (!value.empty()) out += fmt::format("{} = {}\n", key, quoted(value));
    };
    const auto number = [&out](const char* key, double value) {
        if (value > 0.0) out += fmt::format("{} = {:.6g}\n", key, value);
    };
    text("name", d.name);
    text("product", d.product);
    text("source", entry.source);
    text("vendor", d.vendor);
    text("architecture", d.architecture);
    number("compute_capability", d.compute_capability);
    out += fmt::format("sm_count = {}\n", d.sm_count);
    number("boost_clock_MHz", d.boost_clock_Hz / 1e6);
    number("memory_GiB", d.memory_bytes / (1 << 30));
    number("memory_bandwidth_GBps", d.memory_bandwidth_Bps / 1e9);
    number("l2_MiB", d.l2_bytes / (1 << 20));
    number("tdp_w", d.tdp_w);
    number("fp32_tflops", d.fp32_flops_per_s / 1e12);
    number("tf32_tflops", d.tf32_flops_per_s / 1e12);
    number("fp16_tflops", d.fp16_flops_per_s / 1e12);
    number("bf16_tflops", d.bf16_flops_per_s / 1e12);
    text("link", d.link);
    return out;
}

}  // namespace dlcast
