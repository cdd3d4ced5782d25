// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doubtful_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "predictor/base/text.h"
#include "predictor/samples/operator_json.h"
#include "predictor/step/step_factor.h"
#include "predictor/timing/least_time.h"

namespace dlcast {
namespace {

constexpr double noise_factor = 2.0;
constexpr std::size_t longest_name = 80, most_named = 4;

// "1.2 us", "35.5 ms", "10 s"
std::string short_time(double seconds) {
    if (seconds < 1e-6) return fmt::format("{:.3g} ns", 1e9 * seconds);
    if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
    return seconds < 1.0 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

bool agree(const SampledTime& a, const SampledTime& b) {
    if (std::max(a.time_s, b.time_s) <= noise_factor * std::min(a.time_s, b.time_s)) return true;
    const auto holds = [](const SampledTime& range, double time_s) {
        return range.fastest_s <= time_s && time_s <= range.slowest_s;
    };
    return holds(a, b.time_s) && holds(b, a.time_s);
}

// Of samples of one and the same thing: the places of those that are not to be believed.
std::vector<std::size_t> contradicting(const std::vector<const SampledTime*>& alike) {
    std::vector<std::size_t> best;  // those that one of them does not agree with
    bool is_first = true;
    for (const SampledTime* one : alike) {
        std::vector<std::size_t> against;
        for (std::size_t i = 0; i < alike.size(); ++i)
            if (!agree(*one, *alike[i])) against.push_back(i);
        if (against.empty() && is_first) return {};
        if (is_first || against.size() < best.size()) best = std::move(against);
        is_first = false;
    }
    if (2 * best.size() < alike.size()) return best;
    std::vector<std::size_t> all(alike.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
}

std::string words_for(const std::vector<const SampledTime*>& alike, const std::vector<std::size_t>& left_out,
                      const std::string& what) {
    const bool all = left_out.size() == alike.size();
    std::string named;
    for (std::size_t n = 0; n < left_out.size() && n < most_named; ++n)
        named += fmt::format("{}{} ({})", n == 0 ? "" : ", ", alike[left_out[n]]->place,
                             short_time(alike[left_out[n]]->time_s));
    if (left_out.size() > most_named) named += fmt::format(" and {} more", left_out.size() - most_named);
    return fmt::format(
        "{}: {} of {} {}; left out. Measure it again on an idle node, or take the wrong ones out of the "
        "file",
        named, counted(left_out.size(), "sample"), what,
        all ? "contradict one another by more than noise can explain"
            : fmt::format("against {} that agree", alike.size() - left_out.size()));
}

template <typename Item>
void take_out(std::vector<Item>& items, const std::vector<bool>& left_out) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (!left_out[i] && kept++ != i) items[kept - 1] = std::move(items[i]);
    items.resize(kept);
}

// Takes out of `items` what contradicts; `key` is equal for samples of one and the same thing, empty: not looked at.
template <typename Item, typename Key, typename Words>
void keep_agreeing(std::vector<Item>& items, FewLines& lines, const Key& key, const Words& words) {
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (std::string name = key(items[i]); !name.empty()) groups[std::move(name)].push_back(i);
    std::vector<bool> left_out(items.size(), false);
    for (const auto& [name, members] : groups) {
        std::vector<const SampledTime*> alike;
        for (const std::size_t i : members) alike.push_back(&items[i]);
        const std::vector<std::size_t> wrong = contradicting(alike);
        if (wrong.empty()) continue;
        lines.add(words_for(alike, wrong, words(items[members.front()])));
        for (const std::size_t n : wrong) left_out[members[n]] = true;
    }
    take_out(items, left_out);
}

}  // namespace

std::string sample_words(const SampledPass& sample) {
    const MeasuredPass& pass = sample.pass;
    const std::string ranks = pass.ranks > 1 ? fmt::format(", {} ranks", pass.ranks) : "";
    return fmt::format("a step of {} (batch {}, {}{}) on {}", one_line(pass.model, longest_name), pass.batch,
                       to_string(pass.precision), ranks, sample.gpu);
}

std::string sample_words(const SampledCall& call, const std::string& gpu) {
    const Operator& op = call.op;
    std::string sizes;
    const Value value = operator_value(op);
    for (const Value::Member& member : value.as_object())
        if (member.value.is_number()) sizes += fmt::format("{} {:.0f}, ", member.key, member.value.as_number());
    return fmt::format("{} {} ({}{}) on {}", to_string(op.kind), to_string(op.phase), sizes, to_string(op.precision),
                       gpu);
}

std::string sample_words(const SampledCollective& sample) {
    const MeasuredCollective& point = sample.point;
    return fmt::format("{} ({} bytes, {} ranks, nodes {}) on {}",
                       collective_names[static_cast<std::size_t>(point.collective)], point.bytes, point.ranks,
                       point.nodes, sample.gpu);
}

bool is_too_fast(const SampledTime& time, double least_s) { return time.time_s < least_s / peak_tolerance; }

std::string doubt_about(const SampledTime& time, const std::string& what, const std::string& gpu, double least_s,
                        double forecast_s) {
    const std::string check = fmt::format(
        "left out. Check the peak figures of {} in its entry of gpus.toml, or how the sample was measured", gpu);
    if (is_too_fast(time, least_s))
        return fmt::format(
            "{}: {} in {}: at the peak figures of the device's entry it takes {} at least, and below {} "
            "it is not believed; {}",
            time.place, what, short_time(time.time_s), short_time(least_s), short_time(least_s / peak_tolerance),
            check);
    if (time.time_s * largest_ratio < forecast_s || time.time_s > largest_ratio * forecast_s)
        return fmt::format("{}: {} in {}: more than a factor of {:.0f} off its forecast, {}; {}", time.place, what,
                           short_time(time.time_s), largest_ratio, short_time(forecast_s), check);
    return "";
}

Status leave_out_impossible_calls(SiteSamples& samples, const LayerTimeModel& network, const Say& say) {
    FewLines lines(say);
    for (auto& [key, calls] : samples.calls) {
        const std::string& gpu = key.first;
        const Device& device = samples.devices.at(gpu);
        std::vector<OperatorQuery> queries;
        for (const SampledCall& call : calls) queries.push_back({&call.op, &device, call.clock});
        const auto forecasts = network.times(queries);
        if (!forecasts) return forecasts.error();
        std::vector<bool> left_out;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const double least_s = least_call_s(device, calls[i].op);
            const std::string doubt =
                doubt_about(calls[i], sample_words(calls[i], gpu), gpu, least_s, (*forecasts)[i].median_s);
            if (!doubt.empty()) lines.add(doubt);
            if (is_too_fast(calls[i], least_s)) ++samples.too_fast[gpu];
            left_out.push_back(!doubt.empty());
        }
        take_out(calls, left_out);
    }
    return ok();
}

void say_low_entries(const SiteSamples& samples, const DeviceCatalog& catalog, const std::string& entries_file,
                     const Say& say) {
    constexpr std::size_t fewest = 3;  // single ones may have been mistaken
    for (const CatalogEntry& entry : catalog.entries()) {
        const auto found = samples.too_fast.find(entry.device.name);
        const bool measured = entry.source.find("dlcast-profile") != std::string::npos;
        if (found == samples.too_fast.end() || found->second < fewest || !measured) continue;
        say(fmt::format(
            "{} of {} are faster than its entry allows, which dlcast-profile measured: on a busy host its figures come "
            "out too low. Take the entry out of '{}', measure it again with dlcast-profile on an idle host, and "
            "refine again",
            counted(found->second, "sample"), entry.device.name, shown_path(entries_file)));
    }
}

void leave_out_contradictions(SiteSamples& samples, const Say& say) {
    FewLines lines(say);
    for (auto& [key, calls] : samples.calls)
        keep_agreeing(
            calls, lines,
            [](const SampledCall& call) {
                return fmt::format("{} {}", static_cast<int>(call.clock), to_plan_line(call.op));
            },
            [&gpu = key.first](const SampledCall& call) { return sample_words(call, gpu); });
    keep_agreeing(
        samples.collectives, lines,
        [](const SampledCollective& sample) { return sample.gpu + " " + to_plan_line(sample.point); },
        [](const SampledCollective& sample) { return sample_words(sample); });
    keep_agreeing(
        samples.passes, lines,
        [](const SampledPass& sample) {
            return sample.pass.pass == Pass::step ? sample.gpu + " " + to_plan_line(sample.pass) : std::string();
        },
        [](const SampledPass& sample) { return sample_words(sample); });
}

}  // namespace dlcast
