// SPDX-License-Identifier: GPL-2.0-or-later
// The constants of the step-time model: each has a name, a value known beforehand, and how far measurements may move
// it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace dlcast {

/// How a constant enters the formulas, and thereby on which scale it is fitted.
enum class ConstantScale {
    logarithm,  // positive: a factor, an efficiency, seconds
    odds,       // a share between 0 and 1
};

struct ConstantFacts {
    std::string_view name;
    double prior = 1.0;     // in the unit of its name's suffix; without one, dimensionless
    double prior_sd = 0.2;  // of its logarithm (or of the logarithm of its odds)
    ConstantScale scale = ConstantScale::logarithm;
};

/// In groups; what each stands for is said beside the table in step_coefficients.cpp.
// clang-format off
enum class StepConstant : std::size_t {
    product_simt, product_tf32, product_half, product_fp8,
    bmm_simt, bmm_tensor, conv_simt, conv_tf32, conv_half, grouped, depthwise, attention, attention_second, recurrent,
    winograd, backward_product, weight_gradient, reduction_length, tile_power,
    simt_tflops_per_w, tensor_tflops_per_w, geforce,
    tensor_volta, tensor_turing, tensor_ampere, tensor_ampere_graphics, tensor_ada, tensor_hopper, tensor_blackwell,
    tensor_cdna, tf32_ampere, tf32_ampere_graphics, tf32_ada, tf32_hopper, attention_hopper,
    simt_pascal, simt_volta, simt_turing, simt_ampere, simt_ada, simt_hopper, simt_cdna,
    memory_pascal, memory_volta, memory_turing, memory_ampere, memory_ampere_graphics, memory_ada, memory_hopper,
    memory_blackwell, memory_cdna,
    stream_elementwise, stream_norm, stream_pooling, stream_embedding, stream_loss, stream_copy, stream_update,
    stream_product, stream_depthwise, l2_saving, accesses_per_clock, strided, layout_tf32, layout_half,
    fused_by_hand, fused_by_compiler, fused_batch_norm,
    kernel_gap_s, eager_kernel_s, session_kernel_s, graph_kernel_s, update_kernels,
    eager_step_s, session_step_s, graph_step_s,
    software_eager, software_container, software_apex, software_tensorflow1, software_tensorflow2, software_mxnet,
    software_paddle, software_composer, software_nemo, software_megatron, software_titan, software_compiled,
    nvlink, pcie, network, message_s, horovod_speed, horovod_overlap, ddp_overlap, sharded_speed, sharded_overlap,
    tensor_hidden, ring_hidden, straggler, straggler_nodes, interference,
    size
};
// clang-format on

inline constexpr std::size_t constant_count = static_cast<std::size_t>(StepConstant::size);

/// In the order of StepConstant.
const std::array<ConstantFacts, constant_count>& constant_facts();

/// One value for each constant, on its fitting scale: log value, or log odds.
using StepCoefficients = std::array<double, constant_count>;

StepCoefficients prior_coefficients();
/// Of each prior, on the fitting scale.
StepCoefficients prior_deviations();
/// From the fitting scale to the natural one, and back.
double natural_value(StepConstant which, double fitted);
double fitted_value(StepConstant which, double natural);

}  // namespace dlcast
