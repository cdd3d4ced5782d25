// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/data_folder.h"

#include <filesystem>

namespace dlcast {

namespace fs = std::filesystem;

std::string data_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const auto under_build_tree = program.lexically_relative(DLCAST_BINARY_DIR);
    if (!under_build_tree.empty() && *under_build_tree.begin() != "..") return DLCAST_SOURCE_DIR "/etc";
    // Installed, also under another prefix than it was built for.
    const fs::path installed = (program.parent_path() / DLCAST_BIN_TO_PREFIX / DLCAST_DATA_DIR).lexically_normal();
    if (fs::exists(installed, error)) return installed.string();
    return DLCAST_FULL_DATA_DIR;  // prefix /usr has its /etc outside
}

}  // namespace dlcast
