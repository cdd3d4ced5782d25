// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/tres.h"

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::string_view any_gpu = "gres/gpu";

// "20000M" -> 20000 Mi; memory is of no interest here, but must not look like a fault.
bool parse_amount(std::string_view text, double& out) {
    if (text.empty()) return false;
    double scale = 1.0;
    constexpr std::string_view suffixes = "kmgtp";
    const char last = static_cast<char>(text.back() | 0x20);
    if (const auto power = suffixes.find(last); power != std::string_view::npos) {
        for (std::size_t i = 0; i <= power; ++i) scale *= 1024.0;
        text.remove_suffix(1);
    }
    const auto number = parse_number(text);
    if (!number || *number < 0) return false;
    out = *number * scale;
    return true;
}

template <typename Use>
void each_item(std::string_view list, Use use) {
    while (!list.empty()) {
        const auto comma = list.find(',');
        const std::string_view item = list.substr(0, comma);
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
        const auto equals = item.find('=');
        double amount = 0.0;
        if (equals != std::string_view::npos && parse_amount(item.substr(equals + 1), amount))
            use(item.substr(0, equals), amount);
    }
}

}  // namespace

JobTres parse_job_tres(std::string_view list) {
    JobTres out;
    double typed = 0.0;
    each_item(list, [&](std::string_view name, double amount) {
        if (name == "billing")
            out.billing = amount;
        else if (name == "node")
            out.nodes = amount;
        else if (name == any_gpu)
            out.gpus = amount;
        else if (name.starts_with("gres/gpu:") && amount > 0) {
            typed += amount;
            if (!out.gpu.empty()) out.gpu += '+';
            out.gpu += name.substr(any_gpu.size() + 1);
        }
    });
    // Sites may track typed GPUs alone.
    out.gpus = std::max(out.gpus, typed);
    return out;
}

std::vector<std::pair<std::string_view, double>> parse_tres(std::string_view list) {
    std::vector<std::pair<std::string_view, double>> out;
    each_item(list, [&](std::string_view name, double amount) { out.emplace_back(name, amount); });
    return out;
}

}  // namespace dlcast
