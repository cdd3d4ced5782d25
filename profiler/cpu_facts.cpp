// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/cpu_facts.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// "32768K"
double cache_bytes(const std::string& text) {
    std::istringstream in(text);
    double size = 0.0;
    char unit = 0;
    in >> size >> unit;
    return size * (unit == 'K' ? 1024.0 : unit == 'M' ? 1048576.0 : 1.0);
}

double last_cache(const std::string& root) {
    double best = 0.0, best_level = 0.0;
    for (int i = 0; i < 8; ++i) {
        const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu0/cache/index{}/", root, i);
        const double level = parse_number(trim(first_line(folder + "level"))).value_or(0.0);
        if (level <= best_level) continue;
        best_level = level;
        best = cache_bytes(first_line(folder + "size"));
    }
    return best;
}

// Where Linux does not tell of caches, as in some virtual machines, the C library asks the processor. On AMD's it adds
// up the caches of all core complexes, of which a core sees one, of up to 32 MiB where no memory is stacked on it.
double last_cache_by_library() {
    constexpr double most_of_a_complex = 32 << 20;
    const long third = ::sysconf(_SC_LEVEL3_CACHE_SIZE), second = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::min(most_of_a_complex, static_cast<double>(std::max({third, second, 0L})));
}

// "200000 100000": quota and period in microseconds; "max 100000": no quota.
int quota_cpus(const std::string& root) {
    std::istringstream in(first_line(root + "/sys/fs/cgroup/cpu.max"));
    double quota = 0.0, period = 0.0;
    if (!(in >> quota >> period) || period <= 0.0) return 0;
    return std::max(1, static_cast<int>(std::floor(quota / period)));
}

int affinity_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

double memory(const std::string& root) {
    const double machine =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
    const auto limit = parse_number(trim(first_line(root + "/sys/fs/cgroup/memory.max")));
    return limit ? std::min(machine, *limit) : machine;
}

// "MemAvailable:   123 kB", "inactive_file 123": the number behind `key`, -1 where there is none.
double number_of(const std::string& path, const std::string& key) {
    std::ifstream file(path);
    std::string word;
    double value = 0.0;
    while (file >> word)
        if (word == key && file >> value) return value;
    return -1.0;
}

}  // namespace

double free_memory_bytes(const std::string& root) {
    const double free_bytes = 1024.0 * std::max(0.0, number_of(root + "/proc/meminfo", "MemAvailable:"));
    const std::string group = root + "/sys/fs/cgroup/";
    const auto limit = parse_number(trim(first_line(group + "memory.max")));
    const auto used = parse_number(trim(first_line(group + "memory.current")));
    if (!limit || !used) return free_bytes;
    const double below_limit = *limit - *used + std::max(0.0, number_of(group + "memory.stat", "inactive_file"));
    return free_bytes > 0.0 ? std::min(free_bytes, below_limit) : below_limit;
}

CpuFacts read_cpu_facts(const std::string& root) {
    CpuFacts out;
    std::ifstream file(root + "/proc/cpuinfo");
    std::string line;
    double clocks = 0.0;
    int count = 0;
    while (std::getline(file, line)) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string_view key = trim(std::string_view(line).substr(0, colon));
        const std::string value(trim(std::string_view(line).substr(colon + 1)));
        if (key == "model name" && out.model.empty()) out.model = value;
        if (key != "cpu MHz") continue;
        clocks += parse_number(value).value_or(0.0) * 1e6;
        ++count;
    }
    if (count > 0) out.clock_Hz = clocks / count;
    const int quota = quota_cpus(root);
    out.cpus = quota > 0 ? std::min(quota, affinity_cpus()) : affinity_cpus();
    out.memory_bytes = memory(root);
    out.last_cache_bytes = last_cache(root);
    if (out.last_cache_bytes <= 0.0 && root.empty()) out.last_cache_bytes = last_cache_by_library();
    return out;
}

std::string cpu_key(const std::string& model, int threads) {
    std::string text = model.substr(0, model.find('@'));
    for (const char* mark : {"(R)", "(r)", "(TM)", "(tm)"})
        for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
            text.erase(at, std::string_view(mark).size());
    std::string key;
    for (const std::string& word : split(text, ' '))
        if (!squeeze(word).empty() && word != "CPU" && word != "Processor") key += (key.empty() ? "" : "-") + word;
    return fmt::format("{}-{}T", key.empty() ? "CPU" : key, threads);
}

}  // namespace dlcast
