// SPDX-License-Identifier: GPL-2.0-or-later
// Operators on devices as numbers for the layer-time network: the same code for training and for inference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "predictor/timing/layer_time_model.h"

namespace dlcast {

/// Changes with every change of a column below, or of the formula they enter; weights of another schema are refused.
inline constexpr int feature_schema = 3;

/// Three networks, for three ways of spending time.
enum class Net { conv, product, memory };
inline constexpr std::size_t net_count = 3;
const char* to_string(Net net);

/// The network that knows this operator; nothing where none has seen its like (fused attention, recurrent layers).
std::optional<Net> net_of(const Operator& op);

/// Columns that enter the time by formula, not through the network. One row of `FeatureTable::physics`.
struct PhysicsColumns {
    float log_compute_s = 0.0f;     // arithmetic at the sustained rate
    float log_memory_s = 0.0f;      // traffic at the bandwidth (in part of the cache, for memory-bound operators)
    float log_slowness_min = 0.0f;  // least log time over compute_s: 0, less where an algorithm saves arithmetic
    float adds_launch = 0.0f;  // 1: the launch adds to the time (Clock::session); 0: it is in part a floor under it
    float update_s = 0.0f;     // traffic of the updates inside a measured training step
    float host_launch = 0.0f;  // 1: the launch is the host's, so it differs by machine (not for Clock::kernel)
};
inline constexpr int physics_columns = 6;

/// Constants that are learnt beside the network, found by index: launch times by operator, and for
/// Clock::session by optimizer; the factor on update_s, by optimizer.
inline constexpr int operator_slots = 24;
inline constexpr int optimizer_slots = 11;
inline constexpr int launch_slots = operator_slots + optimizer_slots;

/// Rows for one network, in the order they were appended.
struct FeatureTable {
    Net net = Net::conv;
    int columns = 0;                      // of `features`
    std::vector<float> features;          // rows x columns
    std::vector<PhysicsColumns> physics;  // rows
    std::vector<std::int32_t> launch;     // rows, in [0, launch_slots)
    std::vector<std::int32_t> optimizer;  // rows, in [0, optimizer_slots)
    std::vector<std::int32_t> group;      // rows: a named (GPU, clock), or -1 for a GPU known by its figures alone

    explicit FeatureTable(Net which);
    std::size_t rows() const { return physics.size(); }
    /// `query.op` must belong to `net`.
    void append(const OperatorQuery& query, std::int32_t group_index);
};

/// The figures of a GPU that columns stem from; they are never known exactly.
enum class Figure : std::int32_t { none, processors, last_round, rates, cache, generation, vendor };
inline constexpr int figure_count = 7;

/// Names of the columns, and how far (standard deviation) training may disturb each. Columns of one figure are
/// disturbed together, as they would be on a GPU where that figure is another: a network that could average the
/// disturbance out would know the training GPUs by their figures.
struct FeatureColumn {
    std::string name;
    Figure figure = Figure::none;
    float noise = 0.0f;
};
const std::vector<FeatureColumn>& feature_columns(Net net);

}  // namespace dlcast
