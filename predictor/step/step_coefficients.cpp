// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_coefficients.h"

#include <cmath>

namespace dlcast {

const std::array<ConstantFacts, constant_count>& constant_facts() {
    constexpr auto odds = ConstantScale::odds;
    static const std::array<ConstantFacts, constant_count> facts{{
        // Share of the sustained arithmetic rate that large matrix products reach, by the unit that computes them.
        {"product_simt", 0.85, 0.15},
        {"product_tf32", 0.75, 0.20},
        {"product_half", 0.80, 0.20},
        {"product_fp8", 0.70, 0.25},
        // Other kinds of products, against a matrix product on the same unit. `attention` is the first generation of
        // fused kernels; the second is faster by `attention_second` (Dao, arXiv:2307.08691).
        {"bmm_simt", 0.80, 0.20},
        {"bmm_tensor", 0.70, 0.25},
        {"conv_simt", 0.95, 0.20},
        {"conv_tf32", 0.95, 0.25},
        {"conv_half", 0.90, 0.25},
        {"grouped", 0.40, 0.50},
        {"depthwise", 0.15, 0.50},
        {"attention", 0.45, 0.30},
        {"attention_second", 1.5, 0.20},
        {"recurrent", 0.50, 0.30},
        // Gain of Winograd's algorithm on vector units (2.25 fewer multiplications, before its transforms); products of
        // backward and of weight gradients against those of forward; the length of sums at which half the rate is
        // reached; the power of the tiles' fill in a product's rate.
        {"winograd", 1.40, 0.25},
        {"backward_product", 0.90, 0.12},
        {"weight_gradient", 0.95, 0.15},
        {"reduction_length", 40, 0.50},
        {"tile_power", 0.60, 0.50},
        // TFLOP/s that a watt feeds in a 12 nm process (fp32 on vector units, half precision on tensor units); what
        // GeForce boards gain on their sheet by higher clocks.
        {"simt_tflops_per_w", 0.075, 0.15},
        {"tensor_tflops_per_w", 0.50, 0.12},
        {"geforce", 1.1, 0.10},
        // A generation against the others: tensor units, the same on TF32, fused attention, vector units, memory.
        {"tensor_volta", 1, 0.20},
        {"tensor_turing", 1, 0.20},
        {"tensor_ampere", 1, 0.20},
        {"tensor_ampere_graphics", 1, 0.20},
        {"tensor_ada", 1, 0.20},
        {"tensor_hopper", 1, 0.20},
        {"tensor_blackwell", 1, 0.20},
        {"tensor_cdna", 1, 0.20},
        {"tf32_ampere", 1, 0.12},
        {"tf32_ampere_graphics", 1, 0.12},
        {"tf32_ada", 1, 0.12},
        {"tf32_hopper", 1, 0.12},
        {"attention_hopper", 0.9, 0.15},
        {"simt_pascal", 1, 0.12},
        {"simt_volta", 1, 0.12},
        {"simt_turing", 1, 0.12},
        {"simt_ampere", 1, 0.12},
        {"simt_ada", 1, 0.12},
        {"simt_hopper", 1, 0.12},
        {"simt_cdna", 1, 0.12},
        {"memory_pascal", 1, 0.10},
        {"memory_volta", 1, 0.10},
        {"memory_turing", 1, 0.10},
        {"memory_ampere", 1, 0.10},
        {"memory_ampere_graphics", 1, 0.10},
        {"memory_ada", 1, 0.10},
        {"memory_hopper", 1, 0.10},
        {"memory_blackwell", 1, 0.10},
        {"memory_cdna", 1, 0.10},
        // Share of the data-sheet bandwidth that a kind of kernel reaches; traffic that a cache as large as the data
        // saves; elements that a multiprocessor reads or writes in a clock; slowness of reads across rows (between 1
        // where neighbours still share a sector and 16 where each half-width element takes one); and of the copies
        // that turn tensors between channels first and last, against other copies (some kernels need none).
        {"stream_elementwise", 0.80, 0.15},
        {"stream_norm", 0.75, 0.20},
        {"stream_pooling", 0.60, 0.30},
        {"stream_embedding", 0.50, 0.30},
        {"stream_loss", 0.60, 0.30},
        {"stream_copy", 0.75, 0.20},
        {"stream_update", 0.85, 0.10},
        {"stream_product", 0.70, 0.20},
        {"stream_depthwise", 0.20, 0.50},
        {"l2_saving", 0.40, 0.40},
        {"accesses_per_clock", 8.0, 0.40},
        {"strided", 4.0, 0.50},
        {"layout_tf32", 0.60, 0.40},
        {"layout_half", 0.80, 0.30},
        // Time of row-wise kernels where the software fuses them.
        {"fused_by_hand", 0.80, 0.15},
        {"fused_by_compiler", 0.70, 0.15},
        {"fused_batch_norm", 0.60, 0.20},
        // On the device between two kernels; of the host for each kernel, by how it issues them; kernels of an
        // update over those counted; of the host once a step.
        {"kernel_gap_s", 3e-6, 0.30},
        {"eager_kernel_s", 8e-6, 0.30},
        {"session_kernel_s", 8e-6, 0.40},
        {"graph_kernel_s", 2e-6, 0.40},
        {"update_kernels", 1.0, 0.30},
        {"eager_step_s", 4e-3, 0.70},
        {"session_step_s", 6e-3, 0.70},
        {"graph_step_s", 2e-3, 0.70},
        // Device time of a software stack against the others.
        {"software_eager", 1, 0.10},
        {"software_container", 1, 0.10},
        {"software_apex", 1, 0.10},
        {"software_tensorflow1", 1, 0.10},
        {"software_tensorflow2", 1, 0.10},
        {"software_mxnet", 1, 0.10},
        {"software_paddle", 1, 0.10},
        {"software_composer", 1, 0.10},
        {"software_nemo", 1, 0.10},
        {"software_megatron", 1, 0.10},
        {"software_titan", 1, 0.10},
        {"software_compiled", 1, 0.10},
        // Speed of messages inside a step over that of nccl-tests, by their slowest link; the host's part in each;
        // Horovod's speed over NCCL alone; shares of backward behind which gradients hide; of the exchanges of sharded
        // weights that compute could hide, of tensor and context ranks; waiting for the slowest of a node, and for each
        // doubling of nodes; what compute loses of the time that messages run beside it.
        {"nvlink", 0.90, 0.15},
        {"pcie", 0.90, 0.15},
        {"network", 0.90, 0.15},
        {"message_s", 10e-6, 0.40},
        {"horovod_speed", 0.40, 0.50},
        {"horovod_overlap", 0.50, 0.80, odds},
        {"ddp_overlap", 0.90, 0.80, odds},
        {"sharded_speed", 0.90, 0.20},
        {"sharded_overlap", 0.85, 0.60, odds},
        {"tensor_hidden", 0.50, 0.60, odds},
        {"ring_hidden", 0.70, 0.60, odds},
        {"straggler", 0.02, 0.50},
        {"straggler_nodes", 0.005, 0.50},
        {"interference", 0.12, 0.50},
    }};
    return facts;
}

double natural_value(StepConstant which, double fitted) {
    const bool odds = constant_facts()[static_cast<std::size_t>(which)].scale == ConstantScale::odds;
    return odds ? 1.0 / (1.0 + std::exp(-fitted)) : std::exp(fitted);
}

double fitted_value(StepConstant which, double natural) {
    const bool odds = constant_facts()[static_cast<std::size_t>(which)].scale == ConstantScale::odds;
    return odds ? std::log(natural / (1.0 - natural)) : std::log(natural);
}

StepCoefficients prior_deviations() {
    StepCoefficients out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = constant_facts()[i].prior_sd;
    return out;
}

StepCoefficients prior_coefficients() {
    StepCoefficients out{};
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = fitted_value(static_cast<StepConstant>(i), constant_facts()[i].prior);
    return out;
}

}  // namespace dlcast
