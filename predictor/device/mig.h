// SPDX-License-Identifier: GPL-2.0-or-later
// Multi-Instance GPU: a device cut into slices, and the profile names (3g.20gb) people and Slurm write.
// Source: NVIDIA Multi-Instance GPU user guide, profile tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/device/device.h"

namespace dlcast {

/// How a device divides. `sms[g - 1]`: SMs of a profile with g compute slices, 0 where there is none; empty: no MIG.
struct MigLayout {
    int memory_slices = 0;
    std::vector<int> sms;
};

/// "a100_3g.20gb": 3 compute slices and 20 GB of the device called "a100" (empty where the name is the profile alone).
struct MigProfile {
    std::string device;
    int compute_slices = 0;
    double memory_GB = 0.0;
};

/// Nothing where `name` holds no profile. Taken: 3g.20gb, 3g20gb, 3g_20gb, MIG 3g.20gb, 1c.3g.20gb (one of the three
/// compute slices), 1g.10gb+me.
std::optional<MigProfile> parse_mig_profile(std::string_view name);

/// The slice as a device of its own: rates by its SMs, memory, bandwidth and L2 by its memory slices. Nothing where the
/// device offers no such profile.
std::optional<Device> mig_slice(const Device& device, const MigLayout& layout, const MigProfile& profile);

}  // namespace dlcast
