// SPDX-License-Identifier: GPL-2.0-or-later
// Which layers a Keras model holds and which tensors each call of them reads. Shared by keras*.cpp alone.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

/// A tensor by the layer and the call that leave it.
struct KerasRef {
    std::size_t layer = 0, call = 0, tensor = 0;
    const Value* shape = nullptr;  // as Keras 3 says it, the batch first
};

/// One call of a layer: an entry of its "inbound_nodes".
struct KerasNode {
    std::vector<KerasRef> reads;
    std::vector<std::pair<std::string, KerasRef>> named;
    const Value* keywords = nullptr;
};

struct KerasEntry {
    const Value* layer = nullptr;
    const Value* config = nullptr;
    std::string kind, name;
    std::size_t first_call = 0;    // its number among all calls of the model
    std::vector<KerasNode> calls;  // one without reads: an input, or the first layer of a Sequential
};

struct KerasGraph {
    std::vector<KerasEntry> layers;
    std::vector<std::size_t> inputs;  // InputLayers, in the order in which the model is given its tensors
    std::vector<KerasRef> outputs;
    std::size_t calls = 0;
    /// (layer, call): those that lead to an output, each behind what it reads, in the file's order else.
    std::vector<std::pair<std::size_t, std::size_t>> order;

    /// Number of the call that leaves a tensor.
    std::size_t number_of(const KerasRef& ref) const { return layers[ref.layer].first_call + ref.call; }
};

bool is_keras_model(const std::string& kind);  // Functional, Model, Sequential
/// `config` is an object with "layers", or the layers. Errors: no layers, an incomplete one, two of one name, a tensor
/// of no layer, layers that wait for each other.
Result<KerasGraph> read_keras_graph(const Value& model, const Value& config, const std::string& source);

}  // namespace dlcast
