// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "cli/check_site.h"
#include "cli/cluster_text.h"
#include "tests/scratch_folder.h"

using dlcast::check_site;

namespace {

const std::string shipped_gpus = "[files]\ngpus = \"" DLCAST_SOURCE_DIR "/etc/gpus.toml\"\n";

bool has(const std::vector<std::string>& lines, const std::string& part) {
    for (const std::string& line : lines)
        if (line.find(part) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("a whole site without faults says what its GPUs are taken for", "[check]") {
    const ScratchFolder folder;
    const auto config = folder.write("dlcast.toml", "[gpu_names]\na100 = \"A100-SXM4-40GB\"\n" + shipped_gpus);
    folder.write("weights/manifest.toml", "schema = 1\n");
    folder.write("cluster.toml",
                 "[[partition]]\nname = \"gpu\"\n"
                 "[[partition.nodes]]\ngpu = \"a100\"\ngpus_per_node = 4\nnodes = 2\n"
                 "[[partition.nodes]]\nnodes = 9\n");
    const auto report = check_site(config, "");
    CHECK(report.errors == std::vector<std::string>{});
    CHECK(report.warnings == std::vector<std::string>{});
    CHECK(report.has_weights);
    REQUIRE(report.gpus.size() == 1);  // nodes without GPUs need no name
    CHECK(report.gpus[0].device == "A100-SXM4-40GB");
}

TEST_CASE("every fault of every file is reported at once, with its place", "[check]") {
    const ScratchFolder folder;
    const auto config = folder.write("dlcast.toml",
                                     "mode = \"loud\"\n"             // line 1
                                     "dedline_ms = 50\n"             // line 2
                                     "[time_limit]\nquantile = 2\n"  // line 4
                                         + shipped_gpus);
    folder.write("cluster.toml",
                 "[[partition]]\nname = \"p\"\nmax_time_mn = 3\n"
                 "[[partition.nodes]]\ngpu = \"a100\"\ngpus_per_node = 4\nnodes = 2\n"
                 "[[partition.nodes]]\ngpu = \"v1000\"\ngpus_per_node = 4\nnodes = 2\n"
                 "[[partition.nodes]]\ngpu = \"gpu\"\ngpus_per_node = 4\nnodes = 2\n");
    const auto errors = check_site(config, "").errors;
    CHECK(has(errors, "dlcast.toml:1:8: configuration: mode is \"loud\""));
    CHECK(has(errors, "dlcast.toml:2:1: configuration: unknown key \"dedline_ms\"; did you mean \"deadline_ms\"?"));
    CHECK(has(errors, "dlcast.toml:4:12: [time_limit]: quantile is 2"));
    CHECK(has(errors, "cluster.toml:3:1: partition p: unknown key \"max_time_mn\"; did you mean \"max_time_min\"?"));
    CHECK(has(errors, "partition p: GPU \"a100\" may be A100-SXM4-80GB"));
    CHECK(has(errors, "partition p: GPU \"v1000\" is unknown; did you mean \"v100\"?"));
    CHECK(has(errors, "partition p: Slurm knows no type of its GPUs"));
    CHECK(has(errors, "weights/manifest.toml'"));
    CHECK(errors.size() == 8);
}

TEST_CASE("a catalog that is not there is told with where it is named", "[check]") {
    const ScratchFolder folder;
    const auto config = folder.write("dlcast.toml", "");
    CHECK(has(check_site(config, "").errors,
              "gpus.toml': No such file or directory; name the catalog in "
              "dlcast.toml: [files] gpus = "));
}

TEST_CASE("a choice of a GPU that nobody knows is an error", "[check]") {
    const ScratchFolder folder;
    const auto config = folder.write("dlcast.toml", "[gpu_names]\na100 = \"A100-SXM5-80GB\"\n" + shipped_gpus);
    CHECK(has(check_site(config, "").errors, "[gpu_names] a100: GPU \"A100-SXM5-80GB\" is unknown; did you mean"));
}

TEST_CASE("a missing configuration is one error, a missing cluster file a warning", "[check]") {
    const ScratchFolder folder;
    CHECK(check_site(folder.path("dlcast.toml"), "").errors.size() == 1);
    const auto config = folder.write("dlcast.toml", shipped_gpus);
    CHECK(has(check_site(config, "").warnings, "dlcast sync"));
}

TEST_CASE("thousands of partitions of one kind are one line, and one error", "[check]") {
    const ScratchFolder folder;
    const auto config = folder.write("dlcast.toml", shipped_gpus);
    const auto partitions = [](const std::string& gpu) {
        std::string out;
        for (int i = 0; i < 3000; ++i)
            out += "[[partition]]\nname = \"p" + std::to_string(i) +
                   (i == 7 ? "\"\ndefault = true" : "\"\nmax_time_min = 60") + "\n[[partition.nodes]]\ngpu = \"" + gpu +
                   "\"\ngpus_per_node = 4\nnodes = 2\n";
        return out;
    };
    folder.write("cluster.toml", partitions("t4"));
    const std::string text = dlcast::cluster_text(check_site(config, ""));
    CHECK_THAT(text, Catch::Contains("  p0, p1, p2, p3 and 2995 more: up to 1:00:00\n    2 nodes x 4 t4 = T4\n"
                                     "  p7 (default): no time limit\n    2 nodes x 4 t4 = T4\n"));
    folder.write("cluster.toml", partitions("v1000"));
    const auto errors = check_site(config, "").errors;
    CHECK(has(errors, "partitions p0, p1, p2, p3 and 2996 more: GPU \"v1000\" is unknown"));
    CHECK(errors.size() == 2);  // and the weights
}

TEST_CASE("a partition without GPUs is told with the device of its CPUs, where the site names it", "[check]") {
    const ScratchFolder folder;
    folder.write("cluster.toml", "[[partition]]\nname = \"cpu\"\n[[partition.nodes]]\nnodes = 1\n");
    CHECK(check_site(folder.write("dlcast.toml", shipped_gpus), "").gpus.empty());
    const auto config =
        folder.write("dlcast.toml", "[gpu_names]\ncpu = \"T4\"\n" + shipped_gpus);  // any device of the catalog
    CHECK_THAT(dlcast::cluster_text(check_site(config, "")),
               Catch::Contains("  cpu: no time limit\n    1 node = T4\n"));
}

TEST_CASE("a folder for counters that is not there is a warning", "[check]") {
    const ScratchFolder folder;
    const auto warnings = [&](const std::string& status) {
        return check_site(folder.write("dlcast.toml", shipped_gpus + "status = \"" + status + "\"\n"), "").warnings;
    };
    CHECK(has(warnings("nowhere/status.json"), "[files] status: no folder '"));
    CHECK_FALSE(has(warnings("status.json"), "[files] status"));
}

TEST_CASE("of partitions that are all different check prints the first", "[check]") {
    dlcast::SiteReport report;
    for (int i = 0; i < 100; ++i) {
        dlcast::Partition& partition = report.cluster.partitions.emplace_back();
        partition.name = "p" + std::to_string(i);
        partition.max_time_min = i;
    }
    CHECK_THAT(dlcast::cluster_text(report),
               Catch::Contains("  p63: ") && !Catch::Contains("p64") && Catch::Contains("of 36 more kinds"));
    CHECK(dlcast::cluster_text({}).empty());
}
