// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/device_entry.h"

#include <catch2/catch.hpp>

using namespace dlcast;

TEST_CASE("a catalog reads the entry of a measured CPU, which needs no power", "[profiler]") {
    CatalogEntry entry;
    Device& d = entry.device;
    d.name = "AMD-EPYC-2T";
    d.product = "AMD \"EPYC\", 2 threads";
    d.vendor = d.architecture = "cpu";
    d.sm_count = 2;
    d.boost_clock_Hz = 2.5e9;
    d.memory_bytes = 8.0 * (1 << 30);
    d.memory_bandwidth_Bps = 21.5e9;
    d.l2_bytes = 32.0 * (1 << 20);
    d.fp32_flops_per_s = 150e9;
    entry.source = "measured";
    const auto catalog = DeviceCatalog::parse(to_toml(entry), "new.gpus.toml");
    REQUIRE(catalog);
    const auto found = catalog->find("amd-epyc-2t");
    REQUIRE(found);
    CHECK(found->product == d.product);
    CHECK(found->sm_count == 2);
    CHECK(found->memory_bandwidth_Bps == Approx(21.5e9));
    CHECK(found->l2_bytes == Approx(32.0 * (1 << 20)));
    CHECK(found->fp32_flops_per_s == Approx(150e9));
    CHECK(found->tdp_w == 0.0);
}
