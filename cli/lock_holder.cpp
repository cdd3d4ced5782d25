// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/lock_holder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <sstream>
#include <string>

namespace dlcast {

std::optional<pid_t> lock_holder(int handle) {
    struct stat facts {};
    if (::fstat(handle, &facts) != 0) return std::nullopt;
    const std::string wanted = fmt::format("{:02x}:{:02x}:{}", major(facts.st_dev), minor(facts.st_dev), facts.st_ino);
    std::ifstream locks("/proc/locks");
    // "1: FLOCK  ADVISORY  WRITE 708 08:01:131090 0 EOF"; a waiting one has "->" after its number.
    for (std::string line; std::getline(locks, line);) {
        std::istringstream words(line);
        std::string number, kind, mode, access, file;
        pid_t pid = 0;
        if (words >> number >> kind >> mode >> access >> pid >> file && kind == "FLOCK" && file == wanted && pid > 0)
            return pid;
    }
    return std::nullopt;
}

}  // namespace dlcast
