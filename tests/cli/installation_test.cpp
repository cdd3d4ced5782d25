// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/installation.h"

#include <catch2/catch.hpp>

#include "tests/accounting/zone.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

TEST_CASE("a configuration named wins over DLCAST_CONFIG's, and that over the installed one", "[installation]") {
    const ScratchFolder folder;
    const auto theirs = folder.write("theirs/dlcast.toml", "mode = \"advise\"\n");
    const auto named = folder.write("named/dlcast.toml", "mode = \"shadow\"\n");
    {
        const Variable config("DLCAST_CONFIG", theirs);
        CHECK(read_site_config("")->mode == Mode::advise);
        CHECK(read_site_config("")->cluster_file == folder.path("theirs/cluster.toml"));
        CHECK(read_site_config(named)->mode == Mode::shadow);
    }
    {
        const Variable config("DLCAST_CONFIG", "");  // as for the plugin, no name is none
        CHECK_THAT(site_config_path(""), EndsWith("etc/dlcast.toml"));
    }
    const Variable module("DLCAST_MODULE", "/opt/other.so");
    CHECK(find_installation().module_file == "/opt/other.so");
    const auto opened = open_model("", "");
    REQUIRE(opened);
    CHECK_THAT(opened->warning, Contains("'/opt/other.so'") && Contains("; DLCAST_MODULE names it; "));
}
