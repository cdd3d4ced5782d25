// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/process_age.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace dlcast {

double process_age_s() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    // proc(5): the start in clock ticks since boot is field 22; the second, the name, may hold spaces and ends with
    // ')'.
    constexpr int behind_the_name = 22 - 2;
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    std::string field;
    for (int i = 0; i < behind_the_name; ++i) fields >> field;
    timespec now{};
    if (!fields || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0.0;
    const double now_s = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    return std::max(0.0, now_s - std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace dlcast
