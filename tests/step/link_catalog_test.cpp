// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/link_catalog.h"

#include <catch2/catch.hpp>

#include "predictor/base/text.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

std::string shipped_text(const std::string& name) {
    const auto text = read_file(DLCAST_SOURCE_DIR "/etc/" + name, 1 << 20);
    REQUIRE(text);
    return *text;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("links are known by the names people give them", "[nccl]") {
    const auto catalog = parse_link_catalog(shipped_text("links.toml"), "links.toml");
    REQUIRE(catalog);
    CHECK(catalog->node_link("NVL_A100", 300, true) == NodeLink::nvlink3);
    CHECK(catalog->node_link("NVL_H20", 450, true) == NodeLink::nvlink4);
    CHECK(catalog->node_link("NVL_B300", 900, true) == NodeLink::nvlink5);
    CHECK(catalog->node_link("NVB_A40", 56, true) == NodeLink::bridge);
    CHECK(catalog->node_link("PCIE6", 128, true) == NodeLink::pcie);
    CHECK(catalog->node_link("PCIE3", 16, false) == NodeLink::host);
    // Unknown kinds: their rate decides.
    CHECK(catalog->node_link("NVL_R100", 1800, true) == NodeLink::nvlink5);
    CHECK(catalog->node_link("photonic", 400, true) == NodeLink::nvlink4);
    CHECK(catalog->node_link("", 20, true) == NodeLink::pcie);
    CHECK(network_of("IB") == Network::infiniband);
    CHECK(network_of("MNNVL+RoCE") == Network::roce);
    CHECK(network_of("TCPXO") == Network::tcpxo);
    CHECK(network_of("carrier pigeon") == Network::unknown);
    CHECK(usual_GBps(NodeLink::pcie, "PCIE5") == 64);
    CHECK(usual_GBps(NodeLink::nvlink4, "NVL_H100") == 450);
}

TEST_CASE("a device's own links follow from its catalog entry", "[nccl]") {
    Device device;
    device.link = "nvlink3";
    CHECK(fabric_of(device).node_link == NodeLink::nvlink3);
    CHECK_THAT(fabric_of(device).node_GBps, WithinRel(300.0, 1e-9));
    device.link = "pcie4";
    CHECK(fabric_of(device).node_link == NodeLink::pcie);
    CHECK_THAT(fabric_of(device).node_GBps, WithinRel(32.0, 1e-9));
    device.product = "NVIDIA GeForce RTX 4090";
    CHECK(fabric_of(device).node_link == NodeLink::host);
}

TEST_CASE("a catalog with a wrong constant says which and where", "[nccl]") {
    const std::string good = shipped_text("links.toml");
    const auto misspelt = parse_link_catalog(replaced(good, "\nhop = ", "\nhope = "), "links.toml");
    REQUIRE_FALSE(misspelt);
    CHECK_THAT(misspelt.error().message, Contains("'hop' is missing"));
    const auto surplus = parse_link_catalog(replaced(good, "\nhop = ", "\nhopp = [1.0, 1.0]\nhop = "), "links.toml");
    REQUIRE_FALSE(surplus);
    CHECK_THAT(surplus.error().message, Contains("unknown constant 'hopp'; did you mean 'hop'?"));
    const auto negative = parse_link_catalog(replaced(good, "\nhop = [1.0", "\nhop = [-1.0"), "links.toml");
    REQUIRE_FALSE(negative);
    CHECK_THAT(negative.error().message, Contains("above 0"));
    const auto link = parse_link_catalog(replaced(good, "\"nvlink5\"", "\"nvlink9\""), "links.toml");
    REQUIRE_FALSE(link);
    CHECK_THAT(link.error().message, Contains("must be one of nvlink2"));
}

TEST_CASE("fitted constants read back as they were written", "[nccl]") {
    const auto fitted = parse_fitted_collectives(shipped_text("collectives.toml"), "collectives.toml");
    REQUIRE(fitted);
    CHECK(fitted->constants.launch_us > 0);
    CHECK_THAT(fitted->provenance, Contains("measured points"));
    const auto again = parse_fitted_collectives(write_fitted_collectives(*fitted), "again");
    REQUIRE(again);
    CHECK(write_fitted_collectives(*again) == write_fitted_collectives(*fitted));
    CHECK_FALSE(parse_fitted_collectives("[constants]\n", "empty"));
}
