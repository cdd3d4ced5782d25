// SPDX-License-Identifier: GPL-2.0-or-later
// The tensors of an ONNX graph while its nodes are followed, and the layers they become. Shared by onnx*.cpp alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "predictor/base/value.h"
#include "predictor/model/layer.h"
#include "predictor/model/onnx_learned.h"
#include "predictor/model/onnx_wire.h"

namespace dlcast {

struct OnnxValue {
    Sizes shape;
    std::optional<Sizes> values;                    // of small whole-number tensors, where they are known
    bool weight = false;                            // of the file alone: learned, constant, or made of these
    OnnxPart part = 0;                              // the learned tensors that it is made of
    std::optional<std::vector<double>> reals = {};  // of small tensors of real numbers
    bool constant = false;                          // written into the graph by its exporter: nobody learns it
    bool piece = false;                             // a slice of its learned tensor

    /// The same tensor in another order or form, its numbers not known.
    OnnxValue as(Sizes other) const { return {std::move(other), {}, weight, part, {}, constant, piece}; }
};

/// Reads inputs, sets outputs, appends layers. The first fault is kept.
class OnnxFollower {
public:
    /// `time_first`: tensors are [time, batch, width], as recurrent layers read them.
    explicit OnnxFollower(std::int64_t batch, bool time_first = false)
        : batch_(static_cast<double>(batch)), time_first_(time_first) {}

    const OnnxValue& input(const OnnxNode& node, std::size_t index);
    bool has_input(const OnnxNode& node, std::size_t index) const;
    void output(const OnnxNode& node, OnnxValue value, std::size_t index = 0);
    /// Of an input or a learned tensor; false: there is one of this name.
    bool define(const std::string& name, OnnxValue value) { return values_.emplace(name, std::move(value)).second; }

    /// The layer last appended has `natural` parameters by its sizes, and reads these learned tensors.
    void learns(const OnnxNode& node, OnnxUse use, double natural, const std::vector<OnnxValue>& tensors);
    OnnxLearned& learned() { return learned_; }
    /// Appends a layer that reads a tensor of `shape` (batch included) and leaves one of `result`.
    Value& layer(const char* type, const Sizes& shape, const Sizes& result);
    /// An elementwise layer over `shape`: add, multiply, an activation.
    Value& elementwise(const char* type, const Sizes& shape) { return layer(type, shape, shape); }

    void fail(const OnnxNode& node, const std::string& text);
    bool failed() const { return !fault_.empty(); }
    const std::string& fault() const { return fault_; }
    /// With their parameters, where these are not what their sizes say.
    Value::Array take_layers();

    /// Of one sample, as dlcast counts: channels first, at most three dimensions.
    Shape sample_shape(const Sizes& shape) const;

private:
    std::unordered_map<std::string, OnnxValue> values_;
    struct Count {
        double natural = 0.0, taken = 0.0;
        bool shared = false;
    };
    OnnxLearned learned_;
    std::vector<Count> counts_;  // of each layer
    Value::Array layers_;
    Value discarded_;  // written to after a fault
    Shape current_;
    double batch_;
    bool time_first_;
    std::string fault_;
};

double count_of(const Sizes& shape);
/// Shape of two tensors under ONNX's (NumPy's) rules; nothing where they do not fit.
std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b);
/// `axis` counted from the end where it is below 0; fails the node where there is no such axis.
std::size_t axis_of(OnnxFollower& f, const OnnxNode& node, std::int64_t axis, std::size_t rank);

/// What follows one node; nullptr: no such operator.
using OnnxRule = void (*)(OnnxFollower& follower, const OnnxNode& node);
OnnxRule find_layer_rule(const std::string& type);   // operators that compute
OnnxRule find_window_rule(const std::string& type);  // those of them that slide a window
/// Einsum of one or two tensors: sums over the labels that the result lacks.
void follow_einsum(OnnxFollower& follower, const OnnxNode& node);
OnnxRule find_shape_rule(const std::string& type);  // operators that compute nothing
OnnxRule find_value_rule(const std::string& type);  // those of them that make and describe

}  // namespace dlcast
