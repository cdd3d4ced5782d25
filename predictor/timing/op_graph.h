// SPDX-License-Identifier: GPL-2.0-or-later
// Operator lists of traced models: which kernels an eager PyTorch runs for each node, forward and backward.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/timing/lowering.h"

namespace dlcast {

/// A kind of node in the forward pass of a traced model, with its sizes, and how often it occurs.
struct GraphNode {
    // Linear, BMM, EMBEDDING, VEC + add, mul, div, pow, ln, softmax, gelu, tanh, relu (a trailing u: with a scalar),
    // dropout, where, contiguous; others are views and cost nothing.
    std::string name;
    std::int64_t batch = 1, m = 0, k = 0, n = 0;  // Linear, BMM: out[m,n] = in[m,k] w[k,n], `batch` times
    std::int64_t rows = 0, cols = 0;  // of the result; of what moves memory alone: 1 x (elements read and written)
    double count = 1.0;
};

struct OpGraph {
    std::string model;  // opt... has a kernel that its list lacks
    std::int64_t seq_len = 0, batch = 0;
    bool training = false;
    std::vector<GraphNode> forward;
};

/// The kernels of one pass in fp32 with attention as single operators (not fused):
/// - a product's backward is two products of the forward's size; the gradients of a first pass are not accumulated;
/// - dividing by a number and adding or selecting by a mask read and write each element once;
/// - views and the backward of additions cost nothing, but a residual fork sums two gradients;
/// - attention lays queries, keys and values out head by head and its result token by token: the list names some of
///   these copies, `matmul` makes the others where there is more than one sequence;
/// - `fused`: one kernel a chain of elementwise nodes, and those before a softmax or norm inside of it.
/// backward is empty where nothing is trained.
LayerOperators graph_operators(const OpGraph& graph, bool fused);

}  // namespace dlcast
