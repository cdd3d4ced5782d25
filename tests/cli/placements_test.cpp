// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/placements.h"

#include <fmt/format.h>

#include "cli/comparison.h"
#include "cli/prediction_report.h"
#include "cli/scaling_report.h"
#include "tests/cli/site_with_cpu.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

std::string joined(const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

Result<Comparison> compare(const PredictOptions& options, const SiteWithCpu& site) {
    return make_comparison({options, {}}, site.view());
}

Result<std::unique_ptr<Scaling>> scale(const PredictOptions& options, const SiteWithCpu& site) {
    ScaleOptions out;
    out.predict = options;
    return make_scaling(out, site.view());
}

}  // namespace

TEST_CASE("nodes without GPUs are forecast as the device that the site names for their CPUs", "[predict]") {
    const SiteWithCpu site(true);
    PredictOptions options = resnet18_of_100_steps();
    options.partition = "cpu";
    options.nodes = 2;
    const auto prediction = make_prediction(options, site.view());
    REQUIRE(prediction);
    CHECK(prediction->candidate.allocation.device.name == "CPU-16T");
    CHECK(prediction->candidate.allocation.world_size() == 2);
    CHECK_THAT(to_text(*prediction, false), Contains("memory a node") && Contains("node-hours") && !Contains("GPU"));
    CHECK(to_value(*prediction, false).find("gpu_hours")->is_null());
    CHECK(to_value(*prediction, false).find("node_hours")->find("p50")->as_number() > 0);

    const auto comparison = compare(options, site);
    REQUIRE(comparison);
    CHECK(comparison->gpus.front().placement.on_cpu);
    CHECK_THAT(to_text(*comparison), Contains("\nCPUs ") && Contains("node-hours") && !Contains("GPU"));
    CHECK_THAT(to_svg(*comparison), !Contains("GPU"));

    options.nodes = 0;
    const auto scaling = scale(options, site);
    REQUIRE(scaling);
    REQUIRE((*scaling)->curves.size() == 1);
    CHECK((*scaling)->curves.front().points.size() == 3);  // 1, 2 and all 3 nodes
    CHECK_THAT(to_text(**scaling), Contains("--batch-size of all nodes") && Contains("node-hours") && !Contains("GPU"));
    CHECK_THAT(to_svg(**scaling), Contains("beyond it more CPUs win") && !Contains("GPU"));
}

// 2 nodes: dp would be 2/3.
TEST_CASE("a layout that does not make the count of CPUs is told in nodes", "[predict]") {
    const SiteWithCpu site(true);
    PredictOptions options = resnet18_of_100_steps();
    options.partition = "cpu";
    options.nodes = 2;
    options.overrides.set = {"training.parallel.tp=3"};
    CHECK_THAT(make_prediction(options, site.view()).error().message,
               Contains("--set training.parallel.tp=3: parallel: tp 3") && Contains("not 2 nodes; ask for 3 nodes"));
}

TEST_CASE("a CPU by its name is one device a node, and told in nodes", "[predict]") {
    const SiteWithCpu site(false);
    PredictOptions options = resnet18_of_100_steps();
    options.gpu = "CPU-16T";
    CHECK_THAT(joined(make_prediction(options, site.view())->assumed), Contains("1 node (not stated)"));
    options.gpus = 2;
    const auto prediction = make_prediction(options, site.view());
    REQUIRE(prediction);
    CHECK(prediction->candidate.allocation.nodes == 2);
    CHECK_THAT(to_text(*prediction, false), Contains("memory a node") && Contains("node-hours") && !Contains("GPU"));
}

TEST_CASE("what helps a job that is too long for a partition of CPUs is nodes", "[predict]") {
    SiteWithCpu site(true);
    site.cluster.partitions.back().max_time_min = 60;
    PredictOptions options = resnet18_of_100_steps();
    options.partition = "cpu";
    options.overrides.steps = 100'000;
    CHECK_THAT(joined(make_prediction(options, site.view())->warnings), Contains("take more nodes, or chain "));
}

TEST_CASE("a job on CPUs has its node's memory, not that of the host that was measured", "[predict]") {
    SiteWithCpu site(true);
    PredictOptions options = resnet18_of_100_steps();
    options.partition = "cpu";
    CHECK_THAT(to_text(*make_prediction(options, site.view()), false), Contains("of 59.60 GiB: fits"));  // 64 GB
    NodeGroup& nodes = site.cluster.partitions.back().groups.front();
    nodes.memory_bytes = 128.0 * (1 << 30);
    CHECK_THAT(to_text(*make_prediction(options, site.view()), false), Contains("of 128.00 GiB: fits"));
    nodes.memory_bytes = 1 << 29;
    CHECK_THAT(to_text(*make_prediction(options, site.view()), false), Contains("of 0.50 GiB: does not fit"));
}

TEST_CASE("where the site names no device for its CPUs, that and the remedy are said", "[predict]") {
    const SiteWithCpu site(false);
    PredictOptions options = resnet18_of_100_steps();
    options.partition = "cpu";
    const auto remedy = Contains(
        "partition cpu: has no GPUs, and dlcast.toml does not say which device a node's CPUs are; "
        "measure them with dlcast-profile, then add [gpu_names] cpu = \"NAME\"");
    CHECK_THAT(make_prediction(options, site.view()).error().message, remedy);
    CHECK_THAT(compare(options, site).error().message, remedy);
    CHECK_THAT(scale(options, site).error().message, remedy);
    options.partition = "v100,cpu";
    CHECK_THAT(joined(compare(options, site)->left_out), remedy);
    CHECK_THAT(joined((*scale(options, site))->left_out), remedy);
}

TEST_CASE("GPUs are not looked for on CPUs, and a CPU not where there are GPUs", "[predict]") {
    const SiteWithCpu site(true);
    PredictOptions options = resnet18_of_100_steps();
    options.partition = "cpu";
    options.gpus = 2;
    CHECK_THAT(make_prediction(options, site.view()).error().message, Contains("has no GPUs") && Contains("--nodes"));
    options = resnet18_of_100_steps();
    CHECK(make_prediction(options, site.view())->candidate.allocation.partition == "v100");
}

// Nobody is known here, so the QOS is not gold.
TEST_CASE("a partition for others is left out with the reason, and taken with it where it is named", "[predict]") {
    const SiteWithCpu site(true);
    PredictOptions options = resnet18_of_100_steps();
    const auto reason = Contains("partition gold: admits other QOS only");
    CHECK_THAT(joined(make_prediction(options, site.view())->left_out), reason);
    CHECK_THAT(joined(compare(options, site)->left_out), reason);
    const auto scaling = scale(options, site);
    REQUIRE(scaling);
    CHECK_THAT(joined((*scaling)->left_out), reason);
    for (const ScaleCurve& curve : (*scaling)->curves) CHECK_THAT(curve.name, !Contains("gold"));
    options.partition = "gold";
    CHECK_THAT(joined(make_prediction(options, site.view())->warnings), reason);
    CHECK_THAT(joined(compare(options, site)->warnings), reason);
    CHECK_THAT(joined((*scale(options, site))->warnings), reason);
}

TEST_CASE("whoever asks is held against accounts and QOS as sbatch would", "[predict]") {
    SiteWithCpu site(true);
    site.cluster.users.push_back({1000, "ada", "physics"});
    site.cluster.associations.push_back({"physics", "", "", -1, "gold"});
    PredictSite view = site.view();
    view.uid = 1000;
    CHECK(site_partitions("", view)->left_out.empty());
    CHECK(named_but_closed("gold", view).empty());
}

TEST_CASE("of very many partitions the best is taken with its layers, and no list names them all", "[predict]") {
    SiteWithCpu site(true);
    std::string list = "v100";
    const Partition model = site.cluster.partitions.front();
    for (int i = 0; i < 100; ++i) {
        site.cluster.partitions.push_back(model);
        site.cluster.partitions.back().name = fmt::format("v100-{}", i);
        site.cluster.partitions.back().groups.front().gpu = "T4";  // slower than a V100
        list += fmt::format(",v100-{}", i);
    }
    PredictOptions options = resnet18_of_100_steps();
    const auto prediction = make_prediction(options, site.view());
    REQUIRE(prediction);
    CHECK(prediction->candidate.allocation.partition == "v100");
    CHECK_FALSE(prediction->candidate.step.layers.empty());
    CHECK_FALSE(prediction->least_certain.empty());
    options.partition = list;
    CHECK_THAT(make_prediction(options, site.view()).error().message,
               Contains("--partition names 101 partitions; name 64 at most"));
}

TEST_CASE("a partition that is not there is told with the nearest", "[predict]") {
    const SiteWithCpu site(true);
    PredictOptions options = resnet18_of_100_steps();
    options.partition = "cpu, v10";
    CHECK_THAT(make_prediction(options, site.view()).error().message,
               Contains("partition v10: not in the cluster file; did you mean \"v100\"?"));
    CHECK_THAT(scale(options, site).error().message, Contains("did you mean \"v100\"?"));
}
