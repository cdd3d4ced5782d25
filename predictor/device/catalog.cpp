// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

void erase_name(std::multimap<std::string, std::size_t>& names, const std::string& squeezed) {
    names.erase(names.lower_bound(squeezed), names.upper_bound(squeezed));
}

std::vector<std::string> device_names(const std::vector<Device>& devices) {
    std::vector<std::string> out;
    for (const Device& device : devices) out.push_back(device.name);
    return out;
}

// Slices of two devices are one and the same where only the whole boards differ (A100 PCIe and SXM4).
bool same_slice(const Device& a, const Device& b) {
    return a.is_slice && b.is_slice && a.sm_count == b.sm_count && a.boost_clock_Hz == b.boost_clock_Hz &&
           a.memory_bytes == b.memory_bytes && a.memory_bandwidth_Bps == b.memory_bandwidth_Bps &&
           a.l2_bytes == b.l2_bytes && a.fp32_flops_per_s == b.fp32_flops_per_s &&
           a.fp16_flops_per_s == b.fp16_flops_per_s;
}

}  // namespace

void DeviceCatalog::add(CatalogEntry entry) {
    remembered_.clear();
    const std::string key = squeeze(entry.device.name);
    const auto old = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const CatalogEntry& e) { return squeeze(e.device.name) == key; });
    const auto index = static_cast<std::size_t>(old - entries_.begin());
    if (old != entries_.end()) {
        // Facts are new, names stay: a site that corrects a figure keeps "Tesla T4".
        entry.aliases.insert(entry.aliases.end(), old->aliases.begin(), old->aliases.end());
        if (entry.memory_type.empty()) entry.memory_type = old->memory_type;
        if (entry.mig.sms.empty()) entry.mig = old->mig;
        *old = entry;
        patterns_[index] = name_pattern(entry.device.name, entry.memory_type);
    } else {
        patterns_.push_back(name_pattern(entry.device.name, entry.memory_type));
        entries_.push_back(entry);
    }
    erase_name(names_, key);
    names_.emplace(key, index);
    std::vector<std::string> others = entry.aliases;
    others.push_back(entry.device.product);
    for (const std::string& name : others) {
        const std::string squeezed = squeeze(name);
        const auto [first, last] = names_.equal_range(squeezed);
        const bool known = std::any_of(first, last, [&](const auto& n) { return n.second == index; });
        if (!squeezed.empty() && !known) names_.emplace(squeezed, index);
    }
}

void DeviceCatalog::add(Device device, std::vector<std::string> aliases) {
    add(CatalogEntry{std::move(device), std::move(aliases), "", "", {}});
}

Status DeviceCatalog::merge(const DeviceCatalog& other) {
    for (const CatalogEntry& entry : other.entries_) {
        // An alias that the newer file gives is its own; aliases shared inside one file stay shared.
        for (const std::string& alias : entry.aliases) erase_name(names_, squeeze(alias));
    }
    for (const CatalogEntry& entry : other.entries_) add(entry);
    return ok();
}

std::vector<Device> DeviceCatalog::devices() const {
    std::vector<Device> out;
    for (const CatalogEntry& entry : entries_) out.push_back(entry.device);
    return out;
}

std::vector<std::string> DeviceCatalog::names() const { return device_names(devices()); }

Error DeviceCatalog::unknown(std::string_view name) const {
    std::vector<std::string> known = names();
    for (const CatalogEntry& entry : entries_) known.insert(known.end(), entry.aliases.begin(), entry.aliases.end());
    for (const NamePattern& pattern : patterns_) known.push_back(pattern.family);
    const std::string near = nearest_name(name, known);
    // What stands after --gres=, as people paste it.
    const std::vector<std::string> parts = split(name, ':');
    if (parts.size() > 1) {
        const bool is_request = parts.front() == "gpu" || parts.front() == "gres";
        const std::string type = parts.front() == "gres" && parts.size() > 2 ? parts[2] : parts[is_request ? 1 : 0];
        return not_found(
            fmt::format("GPU \"{}\" is unknown; write the type alone, \"{}\", and the count apart", name, type));
    }
    // From one end of the file to the other, which goes by generations.
    std::vector<std::string> examples;
    constexpr std::size_t most_examples = 6;
    for (std::size_t i = 0; i < std::min(most_examples, patterns_.size()); ++i)
        examples.push_back(patterns_[i * patterns_.size() / std::min(most_examples, patterns_.size())].family);
    const std::string hint =
        near.empty() ? fmt::format(
                           "gpus.toml beside dlcast.toml lists those known ({}, ...), and `dlcast-profile` "
                           "on its host (a GPU: --device cuda) writes the entry for a file of your own ([files] "
                           "site_gpus in dlcast.toml)",
                           fmt::join(examples, ", "))
                     : fmt::format("did you mean \"{}\"?", near);
    return not_found(fmt::format("GPU \"{}\" is unknown; {}", name, hint));
}

const DeviceCatalog::Choice* DeviceCatalog::choice(std::string_view name) const {
    const std::string whole = squeeze(name);
    for (const std::string_view wanted : {std::string_view(whole), without_brand(whole)})
        if (const auto found = choices_.find(std::string(wanted)); found != choices_.end()) return &found->second;
    return nullptr;
}

/// Indices of the entries that `name` (without a MIG profile) may mean, in the file's order. A whole name beats one
/// that leaves words out; the site's choice beats both.
std::vector<std::size_t> DeviceCatalog::candidates(std::string_view name) const {
    if (const Choice* made = choice(name)) return {made->index};
    const std::string whole = squeeze(name);
    std::vector<std::size_t> out;
    for (const std::string_view wanted : {std::string_view(whole), without_brand(whole)}) {
        const auto [first, last] = names_.equal_range(std::string(wanted));
        for (auto it = first; it != last; ++it) out.push_back(it->second);
        if (!out.empty()) break;
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (matches(patterns_[i], wanted)) out.push_back(i);
        if (!out.empty()) break;
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// Devices or slices meant by `name`; not_found where none is.
Result<std::vector<Device>> DeviceCatalog::meant(std::string_view name) const {
    auto profile = parse_mig_profile(name);
    const std::string base = profile ? profile->device : std::string(name);
    std::vector<std::size_t> found;
    if (const Choice* made = choice(name)) {
        found = {made->index};
        if (made->profile) profile = made->profile;
    } else if (profile && base.empty()) {
        for (std::size_t i = 0; i < entries_.size(); ++i) found.push_back(i);
    } else {
        found = candidates(base);
    }
    if (found.empty()) return unknown(base);

    std::vector<Device> out, chosen;
    for (const std::size_t i : found) {
        const CatalogEntry& entry = entries_[i];
        const auto device = profile ? mig_slice(entry.device, entry.mig, *profile) : std::optional(entry.device);
        if (!device) continue;
        if (std::any_of(choices_.begin(), choices_.end(), [&](const auto& c) { return c.second.index == i; }))
            chosen.push_back(*device);
        if (std::none_of(out.begin(), out.end(), [&](const Device& d) { return same_slice(d, *device); }))
            out.push_back(*device);
    }
    if (chosen.size() == 1) return chosen;
    if (out.empty())
        return not_found(fmt::format("GPU \"{}\": {} offers no MIG profile {}g.{:.0f}gb", name,
                                     base.empty() ? "no known GPU" : base, profile->compute_slices,
                                     profile->memory_GB));
    return out;
}

Result<Device> DeviceCatalog::find(std::string_view name) const {
    auto devices = meant(name);
    if (!devices) return devices.error();
    if (devices->size() == 1) return devices->front();
    return invalid_argument(
        fmt::format("GPU \"{}\" may be {}; write the one that is meant, or choose for the site: "
                    "[gpu_names] \"{}\" = \"{}\" in dlcast.toml",
                    name, fmt::join(device_names(*devices), ", "), name, devices->front().name));
}

void DeviceCatalog::remember(const std::vector<std::string>& names) {
    remembered_.clear();
    std::map<std::string, Typical, std::less<>> answers;
    for (const std::string& name : names) {
        std::string note;
        auto device = find_or_typical(name, note);
        if (device) answers.try_emplace(name, Typical{std::move(*device), std::move(note)});
    }
    remembered_ = std::move(answers);
}

Result<Device> DeviceCatalog::find_or_typical(std::string_view name, std::string& note) const {
    if (const auto known = remembered_.find(name); known != remembered_.end()) {
        note = known->second.note;
        return known->second.device;
    }
    note.clear();
    auto devices = meant(name);
    if (!devices) return devices.error();
    if (devices->size() > 1) {
        std::vector<std::string> others = device_names(*devices);
        others.erase(others.begin());
        note = fmt::format("GPU \"{}\" taken as {}, the most common (it may be {})", name, devices->front().name,
                           fmt::join(others, ", "));
    }
    return devices->front();
}

Status DeviceCatalog::choose(std::string_view name, std::string_view device) {
    const auto profile = parse_mig_profile(device);
    const auto found = candidates(profile ? std::string_view(profile->device) : device);
    if (found.size() == 1) {
        remembered_.clear();
        choices_[squeeze(name)] = {found.front(), profile};
        return ok();
    }
    if (found.empty()) return unknown(device);
    return find(device).error();
}

}  // namespace dlcast
