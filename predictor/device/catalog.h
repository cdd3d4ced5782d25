// SPDX-License-Identifier: GPL-2.0-or-later
// The GPUs dlcast knows (etc/gpus.toml and a site's additions), found by the names people write.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/reader.h"
#include "predictor/base/result.h"
#include "predictor/device/device.h"
#include "predictor/device/gpu_name.h"
#include "predictor/device/mig.h"

namespace dlcast {

/// One entry of gpus.toml.
struct CatalogEntry {
    Device device;
    std::vector<std::string> aliases;
    std::string memory_type;  // HBM2e: a word people put into names
    std::string source;       // the document the figures come from
    MigLayout mig;
};

class DeviceCatalog {
public:
    /// Reads gpus.toml text. Errors: bad TOML, unknown key, missing or impossible figure, a name given twice.
    static Result<DeviceCatalog> parse(std::string_view text, const std::string& source);
    /// The same with every fault at once.
    static Checked<DeviceCatalog> check(std::string_view text, const std::string& source);

    /// Adds or replaces devices (a site's own file, `evaluate ops --gpus`); the newer entry wins for its name and
    /// aliases.
    Status merge(const DeviceCatalog& other);
    /// A replaced device keeps the names of the old one.
    void add(CatalogEntry entry);
    void add(Device device, std::vector<std::string> aliases);

    /// The device meant by `name`: a catalog key, what nvidia-smi prints ("NVIDIA A100-SXM4-80GB"), or a GRES type
    /// ("a100", "tesla-k80", "h100_nvl", MIG "a100_3g.20gb" scaled to its slices); case, spaces, '-' and '_' aside.
    /// not_found: unknown, with the nearest known names. invalid_argument: several are meant ("a100": PCIe or SXM4, 40
    /// or 80 GB) and the site made no choice; the message lists them.
    Result<Device> find(std::string_view name) const;

    /// As `find`; where several are meant the most common variant (the first of them in the file), and `note` then says
    /// so for the forecast's `assumed`. `note` is empty where nothing was assumed.
    Result<Device> find_or_typical(std::string_view name, std::string& note) const;

    /// Answers find_or_typical for these names beforehand; a later change of the catalog forgets the answers.
    void remember(const std::vector<std::string>& names);

    /// The site's choice for an ambiguous name: `[gpu_names] a100 = "A100-SXM4-80GB"` in dlcast.toml. It also settles
    /// longer names that leave the chosen device open ("a100_3g.20gb"). not_found if `device` is unknown.
    Status choose(std::string_view name, std::string_view device);

    const std::vector<CatalogEntry>& entries() const { return entries_; }
    std::vector<Device> devices() const;
    std::vector<std::string> names() const;

private:
    struct Choice {
        std::size_t index = 0;  // in entries_
        std::optional<MigProfile> profile;
    };
    const Choice* choice(std::string_view name) const;
    std::vector<std::size_t> candidates(std::string_view name) const;
    Result<std::vector<Device>> meant(std::string_view name) const;
    Error unknown(std::string_view name) const;

    std::vector<CatalogEntry> entries_;
    std::vector<NamePattern> patterns_;              // beside entries_
    std::multimap<std::string, std::size_t> names_;  // squeezed key, product or alias -> index in entries_
    std::map<std::string, Choice> choices_;          // by squeezed name
    struct Typical {
        Device device;
        std::string note;
    };
    std::map<std::string, Typical, std::less<>> remembered_;  // by name as written
};

}  // namespace dlcast
