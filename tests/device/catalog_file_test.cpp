// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "predictor/device/catalog.h"

using namespace dlcast;

namespace {

const std::string good = R"([[gpu]]
name = "X1-16GB"
source = "the X1 data sheet"
vendor = "nvidia"
architecture = "ada"
compute_capability = 8.9
sm_count = 10
boost_clock_MHz = 1000
memory_GiB = 16
memory_type = "GDDR6"
ecc_overhead = 0.0625
memory_bandwidth_GBps = 200
l2_MiB = 2
tdp_w = 70
fp32_tflops = 2.56
fp16_tflops = 10.24
link = "pcie4"
)";

std::string with(const std::string& from, const std::string& to) {
    std::string out = good;
    out.replace(out.find(from), from.size(), to);
    return out;
}

}  // namespace

TEST_CASE("an entry's figures come out in plain units", "[catalog]") {
    const auto catalog = DeviceCatalog::parse(good, "own.toml");
    if (!catalog) FAIL(catalog.error().message);
    const auto d = catalog->find("x1");
    REQUIRE(d);
    CHECK(d->boost_clock_Hz == 1e9);
    CHECK(d->memory_bytes == 15.0 * (1 << 30));  // 16 GiB less a sixteenth
    CHECK(d->memory_bandwidth_Bps == 200e9);
    CHECK(d->l2_bytes == 2.0 * (1 << 20));
    CHECK(d->fp32_flops_per_s == Approx(2.56e12));
    CHECK(d->fp16_flops_per_s == Approx(10.24e12));
    CHECK(d->tf32_flops_per_s == 0.0);  // not given: no such unit
    CHECK(d->product == "X1-16GB");
}

TEST_CASE("a fault in a GPU file names its line, the figure and the remedy", "[catalog]") {
    const auto [from, to, message] = GENERATE(table<std::string, std::string, std::string>({
        {"memory_type", "memory_tpye",
         "own.toml:10:1: gpu X1-16GB: unknown key \"memory_tpye\"; did you mean \"memory_type\"?"},
        {"tdp_w = 70\n", "", "own.toml:1:1: gpu X1-16GB: needs \"tdp_w\"; take it from the vendor's data sheet"},
        {"source = \"the X1 data sheet\"\n", "", "needs \"source\"; name the document"},
        {"memory_GiB = 16", "memory_GiB = -1",
         "own.toml:9:14: gpu X1-16GB: memory_GiB is -1; it should be from 0.5 to"},
        {"memory_GiB = 16", "memory_GiB = \"16\"", "memory_GiB is \"16\"; it should be a number"},
        {"boost_clock_MHz = 1000", "boost_clock_MHz = 1e9",
         "boost_clock_MHz is 1000000000; it should be from 100 to 10000"},
        {"fp32_tflops = 2.56", "fp32_tflops = 0", "fp32_tflops should be positive"},
        {"\"pcie4\"", "\"pci4\"", "link \"pci4\" is unknown; known: none, pcie3"},
        {"name = \"X1-16GB\"", "name = \"--\"", "a name needs letters or digits"},
        {"[[gpu]]", "[gpu]", "gpu should be a list; write [[gpu]]"},
        {"[[gpu]]", "[[gpu]", "own.toml:1:"},
        {"link = \"pcie4\"", "mig = { memory_slices = 8 }", "mig: needs \"sms\""},
    }));
    INFO(to);
    const auto catalog = DeviceCatalog::parse(with(from, to), "own.toml");
    REQUIRE_FALSE(catalog);
    CHECK_THAT(catalog.error().message, Catch::Contains(message));
}

TEST_CASE("a name given twice in one file is an error", "[catalog]") {
    const auto catalog = DeviceCatalog::parse(good + with("X1-16GB", "x1_16gb"), "own.toml");
    REQUIRE_FALSE(catalog);
    CHECK_THAT(catalog.error().message, Catch::Contains("own.toml:18:1: gpu x1_16gb stands twice"));
}

TEST_CASE("all faults of a GPU file come at once", "[catalog]") {
    const auto checked = DeviceCatalog::check(with("tdp_w = 70", "tdp_w = 0\nwatts = 70"), "own.toml");
    CHECK(checked.faults.size() == 2);
}
