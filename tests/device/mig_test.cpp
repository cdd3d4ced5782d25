// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "predictor/base/text.h"
#include "predictor/device/catalog.h"

using namespace dlcast;

namespace {

constexpr double gibi = 1 << 30;

DeviceCatalog shipped() {
    auto catalog = DeviceCatalog::parse(*read_file(DLCAST_SOURCE_DIR "/etc/gpus.toml", 1 << 22), "gpus.toml");
    REQUIRE(catalog);
    return *catalog;
}

}  // namespace

TEST_CASE("MIG profiles are read in every spelling", "[mig]") {
    const auto [written, device, compute, memory] = GENERATE(table<std::string, std::string, int, double>({
        {"a100_3g.20gb", "a100", 3, 20},
        {"1g.10gb", "", 1, 10},
        {"nvidia_a100-sxm4-40gb_3g.20gb", "nvidia_a100-sxm4-40gb", 3, 20},
        {"NVIDIA A100-SXM4-40GB MIG 3g.20gb", "nvidia a100-sxm4-40gb", 3, 20},
        {"h100-1g-10gb", "h100", 1, 10},
        {"a100_mig_2g_10gb", "a100", 2, 10},
        {"a100_3g20gb", "a100", 3, 20},
        {"1c.3g.20gb", "", 1, 20},
        {"1g.10gb+me", "", 1, 10},
    }));
    INFO(written);
    const auto profile = parse_mig_profile(written);
    REQUIRE(profile);
    CHECK(profile->device == device);
    CHECK(profile->compute_slices == compute);
    CHECK(profile->memory_GB == memory);
}

TEST_CASE("a name without a profile is none", "[mig]") {
    for (const char* name : {"a100-80gb", "a100-sxm4-80g", "", "3g", "3g.", "3g.20", "gb", "A100-PCIE-40GB"})
        CHECK_FALSE(parse_mig_profile(name));
}

TEST_CASE("a slice has the rates of its SMs and the bandwidth of its memory slices", "[mig]") {
    const DeviceCatalog catalog = shipped();
    const auto whole = catalog.find("A100-SXM4-40GB");
    const auto slice = catalog.find("a100-sxm4-40gb_3g.20gb");
    REQUIRE(slice);
    CHECK(slice->is_slice);
    CHECK(slice->sm_count == 42);                                  // 3 x 14
    CHECK(slice->memory_bytes == Approx(20 * gibi));               // 4 of 8 slices
    CHECK(slice->memory_bandwidth_Bps == Approx(1555e9 * 4 / 8));  //
    CHECK(slice->fp32_flops_per_s == Approx(19.5e12 * 42 / 108));  //
    CHECK(slice->fp16_flops_per_s == Approx(312e12 * 42 / 108));   //
    CHECK(slice->boost_clock_Hz == whole->boost_clock_Hz);
    CHECK(slice->link == "pcie4");  // not the board's NVLink
}

TEST_CASE("the memory of a profile tells the board it was cut from", "[mig]") {
    const DeviceCatalog catalog = shipped();
    // 20 GB for three compute slices are half of 40 GB; PCIe and SXM4 boards are alike in a slice.
    const auto from_40 = catalog.find("a100_3g.20gb");
    REQUIRE(from_40);
    CHECK(from_40->memory_bytes == Approx(20 * gibi));
    // 1g.18gb: 141 / 8 = 17.6 GB.
    const auto from_h200 = catalog.find("h200_1g.18gb");
    REQUIRE(from_h200);
    CHECK(from_h200->memory_bytes == Approx(141 * gibi / 8));
    CHECK(from_h200->sm_count == 16);
    // No board but the A30 has 1g.6gb.
    const auto bare = catalog.find("1g.6gb");
    REQUIRE(bare);
    CHECK(bare->name == "A30 MIG 1g.6gb");
}

TEST_CASE("a profile the board does not offer is refused, and so is one of several boards", "[mig]") {
    const DeviceCatalog catalog = shipped();
    for (const char* name : {"a100_5g.20gb", "a100_3g.30gb", "t4_1g.2gb", "a100-sxm4-80gb_3g.20gb", "9g.99gb"}) {
        INFO(name);
        const auto slice = catalog.find(name);
        REQUIRE_FALSE(slice);
        CHECK(slice.error().fault == Fault::not_found);
    }
    const auto several = catalog.find("1g.10gb");  // A100 80 GB, A100 40 GB (two memory slices), H100 80 GB
    REQUIRE_FALSE(several);
    CHECK(several.error().fault == Fault::invalid_argument);
}

TEST_CASE("a site's choice tells the board of a bare profile", "[mig]") {
    DeviceCatalog catalog = shipped();
    REQUIRE(catalog.choose("1g.10gb", "H100-PCIE-80GB"));
    CHECK(catalog.find("1g.10gb")->name == "H100-PCIE-80GB MIG 1g.10gb");
    REQUIRE(catalog.choose("small", "A100-SXM4-80GB 2g.20gb"));
    CHECK(catalog.find("small")->name == "A100-SXM4-80GB MIG 2g.20gb");
}
