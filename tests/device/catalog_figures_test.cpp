// SPDX-License-Identifier: GPL-2.0-or-later
// The shipped figures against what architecture, clock and memory bus imply.
#include <catch2/catch.hpp>

#include <map>

#include "predictor/base/text.h"
#include "predictor/device/catalog.h"
#include "predictor/device/cluster.h"

using namespace dlcast;

namespace {

DeviceCatalog shipped() {
    const std::string path = DLCAST_SOURCE_DIR "/etc/gpus.toml";
    auto catalog = DeviceCatalog::parse(*read_file(path, 1 << 22), path);
    if (!catalog) FAIL(catalog.error().message);
    return *catalog;
}

// fp32 results (multiply-adds count two) of one SM or compute unit in a clock: twice its lanes. NVIDIA and AMD white
// papers of each architecture. CDNA 3 issues packed pairs of fp32.
double fp32_per_clock(const Device& d) {
    const std::string& a = d.architecture;
    if (a == "kepler") return 2 * 192;
    if (a == "volta" || a == "turing") return 2 * 64;
    if (a == "pascal" || a == "ampere")
        return 2 * (d.compute_capability == 6.0 || d.compute_capability == 8.0 ? 64 : 128);
    if (a == "maxwell" || a == "ada" || a == "hopper" || a == "blackwell") return 2 * 128;
    if (a == "cdna1" || a == "cdna2") return 2 * 64;
    return a.starts_with("cdna") ? 4 * 64 : 0;
}

// Dense fp16 results of one SM in a clock with fp32 accumulation, by the same papers; the vector rate on Pascal's P100.
double fp16_per_clock(const Device& d) {
    static const std::map<std::string, double> of{{"volta", 1024}, {"turing", 1024}, {"ada", 1024},   {"hopper", 4096},
                                                  {"cdna1", 1024}, {"cdna2", 1024},  {"cdna3", 2048}, {"cdna4", 4096}};
    if (d.architecture == "pascal") return d.compute_capability == 6.0 ? 2 * 128 : 0;
    if (d.architecture == "ampere") return d.compute_capability == 8.6 ? 1024 : 2048;
    if (d.architecture == "blackwell") return d.compute_capability < 12.0 ? 8192 : 1024;
    const auto found = of.find(d.architecture);
    return found == of.end() ? 0 : found->second;
}

// Boards whose tensor units run at half rate when they accumulate in fp32: GeForce cards and some sold beside them.
bool half_rate(const Device& d) {
    return d.product.find("GeForce") != std::string::npos || d.name == "A10G" || d.name == "L40" || d.name == "L20";
}

}  // namespace

TEST_CASE("fp32 peak is results a clock x SMs x boost clock", "[catalog]") {
    for (const Device& d : shipped().devices()) {
        INFO(d.name);
        // 4 %: sheets round to two or three digits, and some count another boost clock than the driver reports.
        CHECK(d.fp32_flops_per_s == Approx(fp32_per_clock(d) * d.sm_count * d.boost_clock_Hz).epsilon(0.04));
    }
}

TEST_CASE("tensor peak is dense and accumulates in fp32", "[catalog]") {
    for (const Device& d : shipped().devices()) {
        const double peak = fp16_per_clock(d) * d.sm_count * d.boost_clock_Hz * (half_rate(d) ? 0.5 : 1.0);
        INFO(d.name);
        if (peak == 0.0) {
            CHECK(d.fp16_flops_per_s == 0.0);
            continue;
        }
        if (d.name == "H20-96GB") continue;  // its tensor units are throttled by design: 148 of 648 TFLOPS
        // A sparse figure would be 2 and a wrong accumulator 2 or 0.5; tensor clocks lie up to 20 % below the boost
        // clock.
        CHECK(d.fp16_flops_per_s / peak > 0.77);
        CHECK(d.fp16_flops_per_s / peak < 1.02);
    }
}

TEST_CASE("precisions keep their ratios: tf32 half of fp16, fp8 twice", "[catalog]") {
    for (const Device& d : shipped().devices()) {
        INFO(d.name);
        if (d.tf32_flops_per_s > 0.0) CHECK(d.fp16_flops_per_s / d.tf32_flops_per_s == Approx(2.0).epsilon(0.03));
        if (d.fp8_flops_per_s > 0.0) CHECK(d.fp8_flops_per_s / d.fp16_flops_per_s == Approx(2.0).epsilon(0.03));
        if (d.bf16_flops_per_s > 0.0 && d.name != "MI100") CHECK(d.bf16_flops_per_s == d.fp16_flops_per_s);
        CHECK((d.fp32_matrix_flops_per_s > 0.0) == (d.vendor == "amd"));
        const bool tensor_bf16 = d.compute_capability >= 8.0 || d.vendor == "amd";
        CHECK((d.bf16_flops_per_s > 0.0) == tensor_bf16);
        CHECK((d.tf32_flops_per_s > 0.0) == (d.compute_capability >= 8.0 || d.architecture == "cdna3"));
        const bool has_fp8 = d.compute_capability >= 8.9 || d.architecture == "cdna3" || d.architecture == "cdna4";
        CHECK((d.fp8_flops_per_s > 0.0) == has_fp8);
    }
}

TEST_CASE("memory bandwidth is bus width x data rate", "[catalog]") {
    // Bits of the bus and Gbit/s of one pin, from the same documents; one device, not the board.
    const auto [name, bits, rate_Gbps] = GENERATE(table<std::string, double, double>({
        {"K40", 384, 6.0},
        {"K80", 384, 5.0},
        {"M40-12GB", 384, 6.0},
        {"M60", 256, 5.0},
        {"P100-PCIE-16GB", 4096, 1.43},
        {"P100-PCIE-12GB", 3072, 1.43},
        {"P4", 256, 6.0},
        {"P40", 384, 7.2},
        {"P4000", 256, 7.6},
        {"GTX1080Ti", 352, 11.0},
        {"V100-PCIE-32GB", 4096, 1.75},
        {"V100-SXM2-16GB", 4096, 1.75},
        {"V100-SXM3-32GB", 4096, 1.916},
        {"TITAN-V", 3072, 1.7},
        {"T4", 256, 10.0},
        {"RTX2070", 256, 14.0},
        {"RTX2080Ti", 352, 14.0},
        {"TITAN-RTX", 384, 14.0},
        {"RTX8000", 384, 14.0},
        {"A100-SXM4-40GB", 5120, 2.43},
        {"A100-PCIE-80GB", 5120, 3.024},
        {"A100-SXM4-80GB", 5120, 3.186},
        {"A30", 3072, 2.43},
        {"A10", 384, 12.5},
        {"A40", 384, 14.5},
        {"RTXA4000", 256, 14.0},
        {"RTXA5000", 384, 16.0},
        {"RTXA6000", 384, 16.0},
        {"RTX3090", 384, 19.5},
        {"RTX3080", 320, 19.0},
        {"RTX4090", 384, 21.0},
        {"RTX6000Ada", 384, 20.0},
        {"L4", 192, 12.5},
        {"L40", 384, 18.0},
        {"L40S", 384, 18.0},
        {"H100-SXM5-80GB", 5120, 5.24},
        {"H100-PCIE-80GB", 5120, 3.19},
        {"H100-NVL-94GB", 6144, 5.13},
        {"H200-SXM-141GB", 6144, 6.25},
        {"GH200-96GB", 6144, 5.24},
        {"B200-SXM-180GB", 8192, 7.8},
        {"RTX5090", 512, 28.0},
        {"RTXPRO6000", 512, 28.0},
        {"MI100", 4096, 2.4},
        {"MI210", 4096, 3.2},
        {"MI250X", 4096, 3.2},
        {"MI300X", 8192, 5.2},
        {"MI325X", 8192, 5.86},
    }));
    INFO(name);
    const auto device = shipped().find(name);
    REQUIRE(device);
    CHECK(device->memory_bandwidth_Bps == Approx(bits / 8 * rate_Gbps * 1e9).epsilon(0.02));  // rates are rounded
}

TEST_CASE("every entry names its document, a known link, and a power and a year that can be", "[catalog]") {
    const DeviceCatalog catalog = shipped();
    for (const CatalogEntry& entry : catalog.entries()) {
        const Device& d = entry.device;
        INFO(d.name);
        CHECK(entry.source.size() > 10);
        CHECK(link_named(d.link));
        CHECK(d.tdp_w >= 60);
        CHECK(d.tdp_w <= 1400);
        CHECK(d.year >= 2013);
        CHECK(d.l2_bytes < 0.01 * d.memory_bytes);
        // Time to read the whole memory once: from 11 ms (RTX 2080 Ti: 11 GB at 616 GB/s, 19 ms) to 0.34 s (Orin).
        CHECK(d.memory_bytes / d.memory_bandwidth_Bps > 0.005);
        CHECK(d.memory_bytes / d.memory_bandwidth_Bps < 0.40);
    }
}

TEST_CASE("in-line ECC takes a sixteenth of a board that ships with it on", "[catalog]") {
    // nvidia-smi shows 15360 MiB of a 16 GB T4 and 46080 MiB (less 12) of a 48 GB L40S.
    CHECK(shipped().find("T4")->memory_bytes == 15360.0 * (1 << 20));
    CHECK(shipped().find("L40S")->memory_bytes == 46080.0 * (1 << 20));
}
