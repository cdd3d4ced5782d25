// SPDX-License-Identifier: GPL-2.0-or-later
// A site with GPUs, a partition for one QOS alone, and nodes without GPUs whose CPU was measured as a device.
#pragma once

#include <catch2/catch.hpp>

#include "cli/installation.h"
#include "cli/prediction.h"

namespace dlcast {

inline const char* const site_with_cpu_cluster = R"(
[[partition]]
name = "v100"
[[partition.nodes]]
gpu = "V100-SXM2-32GB"
gpus_per_node = 4
nodes = 2
[[partition]]
name = "gold"
allow_qos = ["gold"]
[[partition.nodes]]
gpu = "A100-SXM4-80GB"
gpus_per_node = 4
nodes = 2
[[partition]]
name = "cpu"
default = true
[[partition.nodes]]
nodes = 3
)";

/// Figures of a measured CPU. `names_cpu`: [gpu_names] says that nodes without GPUs are it.
struct SiteWithCpu {
    DeviceCatalog catalog = *shipped_catalog();
    Cluster cluster = *parse_cluster(site_with_cpu_cluster, "cluster.toml");
    std::unique_ptr<LayerTimeModel> model = make_analytic_model();
    SiteConfig config;
    StepWeights steps;

    explicit SiteWithCpu(bool names_cpu) {
        Device cpu;
        cpu.name = "CPU-16T";
        cpu.vendor = "cpu";
        cpu.architecture = "cpu";
        cpu.sm_count = 16;
        cpu.memory_bytes = 64e9;
        cpu.memory_bandwidth_Bps = 50e9;
        cpu.l2_bytes = 32e6;
        cpu.fp32_flops_per_s = 1e12;
        cpu.boost_clock_Hz = 3e9;
        catalog.add(cpu, {});
        if (!names_cpu) return;
        config.gpu_names["cpu"] = "CPU-16T";
        REQUIRE(catalog.choose("cpu", "CPU-16T"));
    }
    PredictSite view() const { return {&config, &catalog, &cluster, model.get(), &steps}; }
};

inline PredictOptions resnet18_of_100_steps() {
    PredictOptions options;
    options.model = "resnet18";
    options.overrides.batch_size = 32;
    options.overrides.steps = 100;
    return options;
}

}  // namespace dlcast
