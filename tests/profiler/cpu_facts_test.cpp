// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/cpu_facts.h"

#include <catch2/catch.hpp>

#include "tests/scratch_folder.h"

using namespace dlcast;

TEST_CASE("the facts of a CPU come from where Linux keeps them", "[profiler]") {
    ScratchFolder root;
    root.write("proc/cpuinfo",
               "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz\ncpu MHz\t\t: 2000.000\n\n"
               "processor\t: 1\nmodel name\t: Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz\ncpu MHz\t\t: 3000.000\n");
    root.write("sys/fs/cgroup/cpu.max", "150000 100000\n");  // one and a half CPUs
    root.write("sys/fs/cgroup/memory.max", "1073741824\n");
    root.write("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    root.write("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
    root.write("sys/devices/system/cpu/cpu0/cache/index3/level", "3\n");
    root.write("sys/devices/system/cpu/cpu0/cache/index3/size", "28160K\n");
    const CpuFacts facts = read_cpu_facts(root.path("."));
    CHECK(facts.model == "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz");
    CHECK(facts.cpus == 1);
    CHECK(facts.clock_Hz == 2.5e9);
    CHECK(facts.memory_bytes == 1073741824.0);
    CHECK(facts.last_cache_bytes == 28160.0 * 1024);
}

TEST_CASE("a system that tells nothing has one CPU", "[profiler]") {
    ScratchFolder root;
    const CpuFacts facts = read_cpu_facts(root.path("."));
    CHECK(facts.cpus >= 1);  // this process's affinity
    CHECK(facts.clock_Hz == 0.0);
}

// Its entry in a catalog needs it, and repetitions are as long apart as it is large.
TEST_CASE("the last cache of the running machine is known, whether Linux tells of it or not", "[profiler]") {
    const double bytes = read_cpu_facts().last_cache_bytes;
    CHECK(bytes >= 256 << 10);
    CHECK(bytes <= 2e9);
}

TEST_CASE("a CPU's catalog key says its model and threads", "[profiler]") {
    CHECK(cpu_key("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", 8) == "Intel-Xeon-Gold-6230-8T");
    CHECK(cpu_key("AMD EPYC 7763 64-Core Processor", 2) == "AMD-EPYC-7763-64-Core-2T");
    CHECK(cpu_key("", 4) == "CPU-4T");
}

TEST_CASE("memory that is free is the machine's below the control group's limit", "[profiler]") {
    ScratchFolder root;
    root.write("proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\n");
    CHECK(free_memory_bytes(root.path(".")) == 8000000.0 * 1024);
    // 4 GB may be used, 3 GB are, of which 1 GB are files that nobody reads.
    root.write("sys/fs/cgroup/memory.max", "4000000000\n");
    root.write("sys/fs/cgroup/memory.current", "3000000000\n");
    root.write("sys/fs/cgroup/memory.stat", "anon 2000000000\ninactive_file 1000000000\n");
    CHECK(free_memory_bytes(root.path(".")) == 2e9);
    root.write("sys/fs/cgroup/memory.max", "max\n");
    CHECK(free_memory_bytes(root.path(".")) == 8000000.0 * 1024);
}
