// SPDX-License-Identifier: GPL-2.0-or-later
// The GPUs dlcast knows (etc/gpus.toml and a site's additions), found by the names people write.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/device.h"

namespace dlcast {

class DeviceCatalog {
public:
    /// Reads gpus.toml text. Errors: bad TOML, unknown key, missing or impossible figure, alias claimed twice.
    static Result<DeviceCatalog> parse(std::string_view text, const std::string& source);

    /// Adds or replaces devices (a site's own file, `evaluate ops --gpus`); the newer entry wins for its name and
    /// aliases.
    Status merge(const DeviceCatalog& other);
    void add(Device device, std::vector<std::string> aliases);

    /// The device meant by `name`: a catalog key, what nvidia-smi prints ("NVIDIA A100-SXM4-80GB"), or a GRES type
    /// ("a100", "tesla-k80", "h100_nvl", MIG "a100_3g.20gb" scaled to its slices); case, spaces, '-' and '_' aside.
    /// not_found: unknown, with the nearest known names. invalid_argument: several are meant ("a100": PCIe or SXM4, 40
    /// or 80 GB) and the site made no choice; the message lists them.
    Result<Device> find(std::string_view name) const;

    /// The site's choice for an ambiguous name: `[gpu_names] a100 = "A100-SXM4-80GB"` in dlcast.toml. not_found if
    /// `device` is unknown.
    Status choose(std::string_view name, std::string_view device);

    const std::vector<Device>& devices() const { return devices_; }
    std::vector<std::string> names() const;

private:
    std::vector<Device> devices_;
    std::multimap<std::string, std::size_t> aliases_;  // squeezed name -> index in devices_
    std::map<std::string, std::size_t> choices_;       // squeezed name -> index in devices_
};

}  // namespace dlcast
