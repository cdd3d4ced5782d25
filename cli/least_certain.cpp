// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/least_certain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

constexpr std::size_t most_entries = 3;
constexpr double least_share_pct = 5.0;
constexpr double most_log_sd_in_pct = 0.4;  // +-49 %, where /1.5 is -33 %

std::vector<std::string> reasons(const Doubts& doubts) {
    std::vector<std::string> out;
    if (doubts.analytic) out.emplace_back("no network answers for these operators: typical efficiencies do");
    if (doubts.unseen_gpu) out.emplace_back("this device was never measured: its data sheet stands for it");
    if (doubts.unseen_calls)
        out.emplace_back(
            "other calls or whole steps were measured on this device, calls of this kind were not, or all were left "
            "out when the weights were refined: its data sheet stands for them");
    if (doubts.left_calls)
        out.emplace_back(
            "calls of this kind were measured on this device, and left out when the weights were refined, for they "
            "did not forecast what was held out: its data sheet stands for them");
    if (doubts.far_from_data) out.emplace_back("sizes far from measured ones");
    if (doubts.other_precision) out.emplace_back("operators were measured in fp32 alone");
    return out;
}

struct Gathered {
    UncertainLayers layers;
    Doubts doubts;
    double spread_s = 0.0, longest_s = 0.0;
};

}  // namespace

std::vector<UncertainLayers> least_certain_layers(const std::vector<LayerTiming>& layers) {
    std::vector<Gathered> groups;
    double all_s = 0.0;
    for (const LayerTiming& layer : layers) {
        const double seconds = layer.forward_s + layer.backward_s;
        const auto alike = [&](const Gathered& g) { return g.layers.kind == layer.kind && g.doubts == layer.doubts; };
        auto group = std::find_if(groups.begin(), groups.end(), alike);
        if (group == groups.end())
            group = groups.insert(groups.end(), {{layer.kind, "", 0, 0.0, 0.0, reasons(layer.doubts)}, layer.doubts});
        ++group->layers.count;
        group->spread_s += layer.log_sd * seconds;
        all_s += layer.log_sd * seconds;
        if (seconds <= group->longest_s) continue;
        group->longest_s = seconds;
        group->layers.name = layer.name;
        group->layers.log_sd = layer.log_sd;
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Gathered& a, const Gathered& b) { return a.spread_s > b.spread_s; });
    std::vector<UncertainLayers> out;
    for (Gathered& group : groups) {
        if (all_s <= 0.0 || out.size() == most_entries) break;
        group.layers.share_pct = 100.0 * group.spread_s / all_s;
        if (group.layers.share_pct >= least_share_pct) out.push_back(std::move(group.layers));
    }
    return out;
}

std::string to_text(const UncertainLayers& layers) {
    // One standard deviation: exp(log_sd) - 1 upwards, which is about as much downwards only where it is small.
    const std::string spread = layers.log_sd <= most_log_sd_in_pct
                                   ? fmt::format("+-{:.0f} %", 100.0 * std::expm1(layers.log_sd))
                                   : fmt::format("/{0:.1f} to x{0:.1f}", std::exp(layers.log_sd));
    std::string out = fmt::format("{} layers ({:.0f} % of the layers' spread; {} {})", layers.kind, layers.share_pct,
                                  layers.name, spread);
    if (!layers.why.empty()) out += fmt::format(": {}", fmt::join(layers.why, "; "));
    return out;
}

Value to_value(const std::vector<UncertainLayers>& all) {
    Value out = Value::array();
    for (const UncertainLayers& layers : all) {
        Value& entry = out.push(Value::object());
        entry.set("kind", layers.kind);
        entry.set("name", layers.name);
        entry.set("layers", static_cast<std::int64_t>(layers.count));
        entry.set("share_pct", layers.share_pct);
        entry.set("log_sd", layers.log_sd);
        Value& why = entry.set("why", Value::array());
        for (const std::string& reason : layers.why) why.push(reason);
    }
    return out;
}

}  // namespace dlcast
