// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/host_checks.h"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/accounting/zone.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

std::string text_of(const std::vector<Finding>& findings, const std::string& check) {
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.check == check; });
    return found == findings.end() ? "" : found->text;
}

auto count_of(const std::vector<Finding>& findings, const std::string& part) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& f) { return f.text.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("on a host without slurm.conf doctor says so once, with what to do", "[doctor]") {
    const ScratchFolder folder;
    const auto sinfo = folder.write("bin/sinfo",
                                    "#!/bin/sh\n"
                                    "echo 'sinfo: error: resolve_ctls_from_dns_srv: res_nsearch error' >&2\n"
                                    "echo 'sinfo: error: fetch_config: DNS SRV lookup failed' >&2\n"
                                    "echo 'sinfo: fatal: Could not establish a configuration source' >&2\n"
                                    "exit 1\n");
    chmod(sinfo.c_str(), 0755);
    const Variable path("PATH", folder.path("bin") + ":/usr/bin:/bin");
    const Variable conf("SLURM_CONF", folder.path("slurm.conf"));
    const auto findings = check_host({folder.path("dlcast.toml"), folder.path("none.so"), ""});
    CHECK_THAT(text_of(findings, "slurm"), Contains("resolve_ctls_from_dns_srv") && !Contains("fetch_config") &&
                                               Contains("SLURM_CONF names a slurm.conf elsewhere"));
    CHECK_THAT(text_of(findings, "slurm.conf"), Contains("slurm.conf'") && Contains("--slurm-conf FILE"));
    const auto grade_of = [](const std::vector<Finding>& all) {
        return std::find_if(all.begin(), all.end(), [](const Finding& f) { return f.check == "slurm.conf"; })->grade;
    };
    CHECK(grade_of(findings) == Finding::Grade::hint);
    const auto named = check_host({folder.path("dlcast.toml"), folder.path("none.so"), folder.path("gone.conf")});
    CHECK(grade_of(named) == Finding::Grade::bad);  // who names a file means it
    CHECK_THAT(text_of(named, "slurm.conf"), Contains("gone.conf'") && Contains("--slurm-conf names it"));
}

TEST_CASE("weights or a module that are not there are told once, with one remedy", "[doctor]") {
    const ScratchFolder folder;
    const std::string catalog = "[files]\ngpus = \"" DLCAST_SOURCE_DIR "/etc/gpus.toml\"\n";
    const HostPaths paths{folder.write("dlcast.toml", catalog), folder.path("none.so"), folder.path("slurm.conf")};
    const auto no_weights = check_host(paths);
    CHECK(count_of(no_weights, "weights") == 1);
    CHECK_THAT(text_of(no_weights, "configuration"), Contains("name a weights directory in [files] weights"));

    folder.write("dlcast.toml", catalog + "weights = \"" DLCAST_SOURCE_DIR "/etc/weights\"\n");
    const auto no_module = check_host(paths);
    CHECK(count_of(no_module, "none.so") == 1);
    CHECK_THAT(text_of(no_module, "weights"), Contains("is LibTorch installed?"));
}
