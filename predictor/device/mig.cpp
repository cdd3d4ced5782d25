// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/mig.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Slices of memory that a profile of g compute slices may have: on an eight-slice device 3g and 4g both take half.
bool offered(int compute_slices, int memory_slices, int all_memory_slices) {
    if (all_memory_slices != 8) return memory_slices == compute_slices;
    switch (compute_slices) {
        case 1:
            return memory_slices == 1 || memory_slices == 2;
        case 2:
            return memory_slices == 2;
        case 3:
        case 4:
            return memory_slices == 4;
        default:
            return memory_slices == 8;
    }
}

// The profile that starts at `at` ("3g.20gb"); nothing where none does.
std::optional<MigProfile> profile_at(std::string_view text, std::size_t at) {
    const auto starts_word = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    if (!starts_word || at + 3 >= text.size() || !is_digit(text[at]) || text[at + 1] != 'g') return std::nullopt;
    std::size_t i = at + 2;
    if (text[i] == '.' || text[i] == '_' || text[i] == '-') ++i;
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end]) && end - i < 3) ++end;
    if (end == i || end >= text.size() || text[end] != 'g') return std::nullopt;
    MigProfile profile;
    profile.compute_slices = text[at] - '0';
    profile.memory_GB = static_cast<double>(*parse_integer(text.substr(i, end - i)));
    return profile;
}

// "a100-mig-" and "a100 1c." without what belongs to the profile.
std::string device_part(std::string_view text, MigProfile& profile) {
    if (text.size() >= 3 && text.back() == '.' && text[text.size() - 2] == 'c' && is_digit(text[text.size() - 3])) {
        profile.compute_slices = text[text.size() - 3] - '0';
        text.remove_suffix(3);
    }
    const auto drop_separators = [&] {
        while (!text.empty() && !std::isalnum(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
    };
    drop_separators();
    if (text.ends_with("mig")) text.remove_suffix(3);
    drop_separators();
    return std::string(text);
}

}  // namespace

std::optional<MigProfile> parse_mig_profile(std::string_view name) {
    const std::string text = to_lower(name);
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto profile = profile_at(text, at);
        if (!profile) continue;
        profile->device = device_part(std::string_view(text).substr(0, at), *profile);
        return profile;
    }
    return std::nullopt;
}

std::optional<Device> mig_slice(const Device& device, const MigLayout& layout, const MigProfile& profile) {
    const auto g = static_cast<std::size_t>(profile.compute_slices);
    if (g < 1 || g > layout.sms.size() || layout.sms[g - 1] == 0) return std::nullopt;
    const double slice_GB = device.memory_bytes / (1 << 30) / layout.memory_slices;
    const auto slices = static_cast<int>(std::lround(profile.memory_GB / slice_GB));
    // Profile names round to whole gigabytes: a slice of 17.6 GB is called 18gb.
    if (std::abs(profile.memory_GB - slices * slice_GB) > 0.75) return std::nullopt;
    if (!offered(profile.compute_slices, slices, layout.memory_slices)) return std::nullopt;

    Device out = device;
    out.name = fmt::format("{} MIG {}g.{:.0f}gb", device.name, profile.compute_slices, profile.memory_GB);
    out.is_slice = true;
    out.sm_count = layout.sms[g - 1];
    const double compute = static_cast<double>(out.sm_count) / device.sm_count;
    const double memory = static_cast<double>(slices) / layout.memory_slices;
    for (double Device::*rate :
         {&Device::fp32_flops_per_s, &Device::fp32_matrix_flops_per_s, &Device::tf32_flops_per_s,
          &Device::fp16_flops_per_s, &Device::bf16_flops_per_s, &Device::fp8_flops_per_s, &Device::tdp_w})
        out.*rate *= compute;
    for (double Device::*amount : {&Device::memory_bytes, &Device::memory_bandwidth_Bps, &Device::l2_bytes})
        out.*amount *= memory;
    // No slice speaks to another over NVLink.
    out.link = device.compute_capability >= 9.0 ? "pcie5" : "pcie4";
    return out;
}

}  // namespace dlcast
