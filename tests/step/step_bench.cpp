// SPDX-License-Identifier: GPL-2.0-or-later
// Time of one step forecast: a GPT of 96 blocks (175 billion parameters) on 1024 GPUs under tensor, pipeline and data
// parallelism, from the workload on; the layer-time network is not asked.
#include <benchmark/benchmark.h>

#include "predictor/step/step_estimate.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {
namespace {

constexpr const char* gpt3 = R"({ "model": { "model_type": "gpt2", "n_embd": 12288, "n_layer": 96, "n_head": 96,
    "n_positions": 2048, "vocab_size": 51200 },
  "training": { "batch_size": 1, "grad_accum": 24, "precision": "bf16", "optimizer": "adam", "framework": "megatron",
                "activation_checkpointing": "selective", "seq_len": 2048,
                "parallel": { "tp": 8, "pp": 8, "sp": true } } })";

Allocation h100_nodes() {
    Allocation out;
    Device& d = out.device;
    d.name = d.product = "H100";
    d.vendor = "nvidia";
    d.architecture = "hopper";
    d.compute_capability = 9.0;
    d.sm_count = 132;
    d.boost_clock_Hz = 1.98e9;
    d.memory_bytes = 80e9;
    d.memory_bandwidth_Bps = 3.35e12;
    d.l2_bytes = 50e6;
    d.tdp_w = 700;
    d.fp32_flops_per_s = 67e12;
    d.tf32_flops_per_s = 495e12;
    d.fp16_flops_per_s = d.bf16_flops_per_s = 989e12;
    d.link = "nvlink4";
    out.nodes = 128;
    out.gpus_per_node = 8;
    out.intra_node = intra_node_link(d);
    out.inter_node = {5e-6, 0.87 * 50e9, "IB"};
    return out;
}

void step_of_96_blocks_on_1024_gpus(benchmark::State& state) {
    const auto declaration = parse_payload(gpt3);
    const auto workload = declaration ? to_workload(*declaration) : declaration.error();
    if (!workload) {
        state.SkipWithError(workload.error().message.c_str());
        return;
    }
    const auto model = make_analytic_model();
    const Allocation allocation = h100_nodes();
    for (auto _ : state) {
        const auto steps = estimate_steps({{&*workload, allocation}}, *model);
        if (!steps) state.SkipWithError(steps.error().message.c_str());
        benchmark::DoNotOptimize(steps);
    }
}
BENCHMARK(step_of_96_blocks_on_1024_gpus)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dlcast

BENCHMARK_MAIN();
