// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/known_device.h"

#include <filesystem>

#include "predictor/base/text.h"
#include "profiler/data_folder.h"
#include "profiler/device_entry.h"

namespace dlcast {
namespace {

Result<bool> has(const std::string& file, const std::string& name) {
    const auto text = read_file(file, 4u << 20);
    if (!text) return text.error();
    const auto catalog = DeviceCatalog::parse(*text, file);
    if (!catalog) return catalog.error();
    return static_cast<bool>(catalog->find(name));
}

}  // namespace

Result<std::string> describe_device(OpenedDevice& device, const std::string& own_gpus, const std::string& entry_file,
                                    double most_s) {
    const std::string name = device.backend->device().name;
    std::vector<std::string> files{data_folder() + "/gpus.toml"};
    if (!own_gpus.empty()) files.push_back(own_gpus);
    std::error_code error;
    if (std::filesystem::exists(entry_file, error)) files.push_back(entry_file);
    for (const std::string& file : files) {
        const auto known = has(file, name);
        if (!known) return known.error();
        if (*known) return std::string();
    }
    const auto entry = device.detect(*device.backend, most_s);
    if (!entry) return entry.error();
    // What cannot be read again would stop the next run.
    if (const auto readable = DeviceCatalog::parse(to_toml(*entry), "the entry of " + name); !readable)
        return unavailable(readable.error().message + "; or describe this device in a file and name it with --gpus");
    std::string text;
    if (std::filesystem::exists(entry_file, error)) {
        const auto before = read_file(entry_file, 4u << 20);
        if (!before) return before.error();
        text = *before + "\n";
    } else {
        text =
            "# SPDX-License-Identifier: GPL-2.0-or-later\n# Written by dlcast-profile. [files] site_gpus in "
            "dlcast.toml names "
            "this file, or one that holds its entries.\n\n";
    }
    if (auto status = write_file_atomically(entry_file, text + to_toml(*entry)); !status) return status.error();
    return entry_file;
}

}  // namespace dlcast
