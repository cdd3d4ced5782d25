// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "predictor/base/text.h"
#include "predictor/device/catalog.h"

using namespace dlcast;

namespace {

DeviceCatalog shipped() {
    const std::string path = DLCAST_SOURCE_DIR "/etc/gpus.toml";
    const auto text = read_file(path, 1 << 22);
    REQUIRE(text);
    auto catalog = DeviceCatalog::parse(*text, path);
    if (!catalog) FAIL(catalog.error().message);
    return *catalog;
}

std::string found(const DeviceCatalog& catalog, const std::string& name) {
    const auto device = catalog.find(name);
    return device ? device->name : device.error().message;
}

}  // namespace

TEST_CASE("every key of the shipped catalog finds its own entry", "[catalog]") {
    const DeviceCatalog catalog = shipped();
    for (const std::string& name : catalog.names()) CHECK(found(catalog, name) == name);
}

TEST_CASE("a GRES request is not a GPU's name, and the type in it is told", "[catalog]") {
    const auto pasted = shipped().find("gpu:a100:4");
    REQUIRE_FALSE(pasted);
    CHECK(pasted.error().message ==
          "GPU \"gpu:a100:4\" is unknown; write the type alone, \"a100\", and the count apart");
}

TEST_CASE("a GPU is found by the names people and tools write", "[catalog]") {
    const auto [written, key] = GENERATE(table<std::string, std::string>({
        // what nvidia-smi and rocm-smi print
        {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
        {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
        {"A100-SXM-80GB", "A100-SXM4-80GB"},
        {"NVIDIA A100 80GB PCIe", "A100-PCIE-80GB"},
        {"NVIDIA A100-PCIE-40GB", "A100-PCIE-40GB"},
        {"Tesla V100-SXM2-32GB", "V100-SXM2-32GB"},
        {"Tesla V100-SXM3-32GB-H", "V100-SXM3-32GB"},
        {"Tesla P100-PCIE-16GB", "P100-PCIE-16GB"},
        {"Tesla K80", "K80"},
        {"v100s", "V100S-PCIE-32GB"},
        {"4090", "RTX4090"},
        {"rtx 3090 ti", "RTX3090Ti"},
        {"Tesla T4", "T4"},
        {"NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"},
        {"NVIDIA H100 PCIe", "H100-PCIE-80GB"},
        {"NVIDIA H100 NVL", "H100-NVL-94GB"},
        {"NVIDIA H200", "H200-SXM-141GB"},
        {"NVIDIA H200 NVL", "H200-NVL-141GB"},
        {"NVIDIA H20", "H20-96GB"},
        {"NVIDIA GH200 480GB", "GH200-96GB"},
        {"NVIDIA GH200 144G HBM3e", "GH200-144GB"},
        {"NVIDIA B200", "B200-SXM-180GB"},
        {"NVIDIA B300 SXM6 AC", "B300-SXM-270GB"},
        {"NVIDIA GB200", "GB200-186GB"},
        {"NVIDIA GB300", "GB300-279GB"},
        {"NVIDIA L4", "L4"},
        {"NVIDIA L40", "L40"},
        {"NVIDIA L40S", "L40S"},
        {"NVIDIA A10G", "A10G"},
        {"NVIDIA RTX A6000", "RTXA6000"},
        {"NVIDIA GeForce RTX 4090", "RTX4090"},
        {"NVIDIA GeForce RTX 3090 Ti", "RTX3090Ti"},
        {"NVIDIA GeForce RTX 3090", "RTX3090"},
        {"GeForce GTX 1080 Ti", "GTX1080Ti"},
        {"Quadro RTX 6000", "QuadroRTX6000"},
        {"Quadro RTX 8000", "RTX8000"},
        {"NVIDIA RTX 6000 Ada Generation", "RTX6000Ada"},
        {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTXPRO6000"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTXPRO6000-SERVER"},
        {"NVIDIA TITAN RTX", "TITAN-RTX"},
        {"TITAN V", "TITAN-V"},
        {"AMD Instinct MI300X", "MI300X"},
        {"AMD Instinct MI250X", "MI250X"},
        // GRES types, typed by hand or detected by Slurm
        {"tesla-k80", "K80"},
        {"h100_nvl", "H100-NVL-94GB"},
        {"h100-80gb-hbm3", "H100-SXM5-80GB"},
        {"nvidia_h100_80gb_hbm3", "H100-SXM5-80GB"},
        {"a100-sxm4-80gb", "A100-SXM4-80GB"},
        {"nvidia_a100_80gb_pcie", "A100-PCIE-80GB"},
        {"a100_pcie_40g", "A100-PCIE-40GB"},
        {"v100_sxm2_16", "V100-SXM2-16GB"},
        {"rtx4090", "RTX4090"},
        {"nvidia_geforce_rtx_2080_ti", "RTX2080Ti"},
        {"1080ti", "GTX1080Ti"},
        {"a6000", "RTXA6000"},
        {"rtx_a6000", "RTXA6000"},
        {"mi210", "MI210"},
        {"l40s", "L40S"},
        // with the words of the variant in any order
        {"h200-sxm5-141gb", "H200-SXM-141GB"},
        {"A100 80G SXM", "A100-SXM4-80GB"},
        {"  t4 ", "T4"},
    }));
    INFO(written);
    CHECK(found(shipped(), written) == key);
}

TEST_CASE("a name that several variants share is refused with the list of them", "[catalog]") {
    const auto [written, one, other] = GENERATE(table<std::string, std::string, std::string>({
        {"a100", "A100-SXM4-80GB", "A100-PCIE-40GB"},
        {"a100-80gb", "A100-SXM4-80GB", "A100-PCIE-80GB"},
        {"A100-SXM4", "A100-SXM4-80GB", "A100-SXM4-40GB"},
        {"v100", "V100-SXM2-16GB", "V100-PCIE-32GB"},
        {"h100", "H100-SXM5-80GB", "H100-PCIE-80GB"},
        {"rtx6000", "QuadroRTX6000", "RTX6000Ada"},
    }));
    INFO(written);
    const auto device = shipped().find(written);
    REQUIRE_FALSE(device);
    CHECK(device.error().fault == Fault::invalid_argument);
    CHECK_THAT(device.error().message,
               Catch::Contains(one) && Catch::Contains(other) && Catch::Contains("[gpu_names]"));
}

TEST_CASE("an unknown name is refused with the nearest known one", "[catalog]") {
    const auto device = shipped().find("a1000-sxm4-80gb");
    REQUIRE_FALSE(device);
    CHECK(device.error().fault == Fault::not_found);
    CHECK_THAT(device.error().message, Catch::Contains("\"a1000-sxm4-80gb\"") && Catch::Contains("A100-SXM4-80GB"));
    for (const std::string& name :
         std::vector<std::string>{"", "rtx3080ti", "a100-sxm4-90gb", "gpu", "v10", std::string(10'000, 'a')}) {
        const auto missing = shipped().find(name);
        REQUIRE_FALSE(missing);
        CHECK(missing.error().fault == Fault::not_found);
    }
}

TEST_CASE("where a forecast must do with an ambiguous name, the most common variant is taken and named", "[catalog]") {
    const DeviceCatalog catalog = shipped();
    std::string note;
    const auto device = catalog.find_or_typical("a100", note);
    REQUIRE(device);
    CHECK(device->name == "A100-SXM4-80GB");
    CHECK_THAT(note, Catch::Contains("taken as A100-SXM4-80GB") && Catch::Contains("A100-PCIE-40GB"));

    REQUIRE(catalog.find_or_typical("l40s", note));
    CHECK(note.empty());
    CHECK_FALSE(catalog.find_or_typical("nosuch", note));
}

TEST_CASE("a site's choice settles an ambiguous name and what builds on it", "[catalog]") {
    DeviceCatalog catalog = shipped();
    REQUIRE(catalog.choose("A100", "a100-sxm4-40gb"));
    CHECK(found(catalog, "a100") == "A100-SXM4-40GB");
    CHECK(found(catalog, "nvidia_a100") == "A100-SXM4-40GB");
    CHECK(found(catalog, "A100-SXM4") == "A100-SXM4-40GB");       // leaves the memory open, the choice does not
    CHECK(found(catalog, "A100-PCIE-40GB") == "A100-PCIE-40GB");  // says more than the choice

    const auto unknown = catalog.choose("a100", "A100-SXM9");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().fault == Fault::not_found);
    CHECK_FALSE(catalog.choose("a100", "v100"));  // ambiguous itself
}

TEST_CASE("a newer entry replaces the figures of its name and keeps the older names", "[catalog]") {
    DeviceCatalog catalog = shipped();
    const auto count = catalog.entries().size();
    Device t4 = *catalog.find("T4");
    t4.sm_count = 41;
    t4.product = "T4 of the lab";
    catalog.add(t4, {"labcard"});
    CHECK(catalog.entries().size() == count);
    CHECK(catalog.find("Tesla T4")->sm_count == 41);
    CHECK(catalog.find("labcard")->sm_count == 41);

    DeviceCatalog site;
    Device own = t4;
    own.name = "OwnCard";
    site.add(own, {"rtx6000"});
    REQUIRE(catalog.merge(site));
    CHECK(found(catalog, "RTX 6000") == "OwnCard");  // claimed by three shipped entries before
}
