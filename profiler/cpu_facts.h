// SPDX-License-Identifier: GPL-2.0-or-later
// What Linux tells of the CPU this process may use.
#pragma once

#include <string>

namespace dlcast {

struct CpuFacts {
    std::string model;  // as /proc/cpuinfo says: "AMD EPYC 7763 64-Core Processor"
    int cpus = 1;       // this process may run on: affinity and control group
    double clock_Hz = 0.0;
    double memory_bytes = 0.0;      // of the control group, else of the machine
    double last_cache_bytes = 0.0;  // of the last level, as CPU 0 sees it
};

/// Reads below `root` ("" for the running system). What is not told stays 0 (1 for `cpus`).
CpuFacts read_cpu_facts(const std::string& root = "");

/// What a process may still take: of the machine, and below the control group's limit; files in memory count as free.
/// 0: not told.
double free_memory_bytes(const std::string& root = "");

/// Key of a catalog: "AMD EPYC 7763 64-Core Processor" with 8 threads is "AMD-EPYC-7763-64-Core-8T". Marks ((R), (TM)),
/// "CPU", "Processor" and the clock behind '@' are left out.
std::string cpu_key(const std::string& model, int threads);

}  // namespace dlcast
