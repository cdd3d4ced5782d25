// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "predictor/base/deadline.h"
#include "predictor/base/text.h"
#include "predictor/model/fold_layers.h"
#include "predictor/model/onnx_graph.h"

namespace dlcast {
namespace {

constexpr std::size_t most_names_in_message = 20;

// Sizes whose products stay far below what 64 bits hold.
bool is_sane(const Sizes& shape) {
    const bool negative = std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; });
    return !negative && shape.size() <= 16 && count_of(shape) <= 1e15 &&
           std::all_of(shape.begin(), shape.end(), [](std::int64_t size) { return size <= 1'000'000'000'000; });
}

// The model's input: the first that is no weight.
const OnnxInput* find_input(const OnnxGraph& graph, const std::set<std::string>& weights) {
    for (const OnnxInput& input : graph.inputs)
        if (!weights.contains(input.name) && !input.shape.empty()) return &input;
    return nullptr;
}

// Open dimensions: the batch is 1, image sides and sequences take the sizes stated, or usual ones.
void close_dimensions(OnnxInput& input, std::size_t batch, const OpenSizes& sizes, bool names_it,
                      std::vector<std::string>& assumed) {
    for (std::size_t i = 0; i < input.shape.size(); ++i) {
        if (input.shape[i] != open_dimension) continue;
        const bool image = input.shape.size() == 4 && i >= 2;
        const std::int64_t stated = image ? sizes.image_size : sizes.seq_len;
        const std::int64_t usual = image ? usual_image : usual_tokens;
        input.shape[i] = i == batch ? 1 : stated > 0 ? stated : usual;
        if (i != batch && stated == 0 && names_it)
            assumed.push_back(fmt::format("dimension {} of input {} is {} (open in the file)", i,
                                          one_line(input.name, 80), input.shape[i]));
    }
}

// Sizes of 0 and below are no data; an open one is -1.
Status check_input(const OnnxInput& input, const std::string& source) {
    for (std::size_t i = 0; i < input.shape.size(); ++i)
        if (input.shape[i] < 1 && input.shape[i] != open_dimension)
            return invalid_argument(fmt::format(
                "{}: dimension {} of the input \"{}\" is {}; export the model with its size, or leave it open", source,
                i, one_line(input.name, 80), input.shape[i]));
    return ok();
}

// The versions whose operators the rules follow, and newer ones that may be read alike.
constexpr std::int64_t first_opset = 9, last_opset = 21, most_opset = 30;

Status check_opset(std::int64_t opset, const std::string& source, std::vector<std::string>& assumed) {
    if (opset < first_opset || opset > most_opset)
        return invalid_argument(
            fmt::format("{}: {}; {} to {} are read, {} to {} as {}: export the model again with opset_version=17",
                        source, opset == 0 ? std::string("no opset is stated") : fmt::format("its opset is {}", opset),
                        first_opset, last_opset, last_opset + 1, most_opset, last_opset));
    if (opset > last_opset)
        assumed.push_back(fmt::format("opset {} means what {} does (newer than dlcast knows)", opset, last_opset));
    return ok();
}

// Recurrent layers read [time, batch, width]; where that is the model's input, its batch stands second.
bool is_time_major(const OnnxGraph& graph, const OnnxInput& input) {
    return input.shape.size() == 3 && std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const OnnxNode& node) {
               return (node.type == "LSTM" || node.type == "GRU") && !node.inputs.empty() &&
                      node.inputs[0] == input.name && node.integer_or("layout", 0) == 0;
           });
}

// PyTorch's usual export folds each batch norm into the convolution before it, which then has a bias. A square root is
// a norm that an exporter took apart.
bool may_lack_norms(const OnnxGraph& graph) {
    bool convolves = false;
    for (const OnnxNode& node : graph.nodes) {
        if (node.type == "Sqrt" || node.type.find("Normalization") != std::string::npos) return false;
        if (node.type != "Conv") continue;
        if (node.inputs.size() < 3 || node.inputs[2].empty()) return false;
        convolves = true;
    }
    return convolves;
}

// What PyTorch calls every graph says nothing about this one.
bool is_telling(const std::string& name) {
    return !name.empty() && name != "main_graph" && name != "torch_jit" && name != "torch-jit-export";
}

// Operators of other vendors mean what their names say there; one of them is ours.
bool is_known(const OnnxNode& node) {
    const bool ours =
        node.domain.empty() || node.domain == "ai.onnx" || (node.domain == "com.microsoft" && node.type == "Gelu");
    return ours && (find_layer_rule(node.type) || find_shape_rule(node.type));
}

Result<std::string> unknown_operators(const OnnxGraph& graph, const std::string& source) {
    std::set<std::string> unknown;
    for (const OnnxNode& node : graph.nodes)
        if (!is_known(node))
            unknown.insert(one_line(
                node.domain.empty() || node.domain == "ai.onnx" ? node.type : node.domain + "." + node.type, 80));
    if (unknown.empty()) return std::string();
    std::vector<std::string> names(unknown.begin(), unknown.end());
    const bool more = names.size() > most_names_in_message;
    if (more) names.resize(most_names_in_message);
    return invalid_argument(fmt::format(
        "{}: no counterpart for {} operator{} of this graph: {}{}; describe the network with dlcast's own layers",
        source, unknown.size(), unknown.size() == 1 ? "" : "s", fmt::join(names, ", "), more ? ", ..." : ""));
}

}  // namespace

double count_of(const Sizes& shape) {
    double count = 1.0;
    for (const std::int64_t size : shape) count *= static_cast<double>(size);
    return count;
}

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
    Sizes out(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) return std::nullopt;
        out[out.size() - 1 - i] = x == 1 ? y : x;
    }
    return out;
}

std::size_t axis_of(OnnxFollower& f, const OnnxNode& node, std::int64_t axis, std::size_t rank) {
    const auto size = static_cast<std::int64_t>(rank);
    if (axis < -size || axis >= size) {
        f.fail(node, fmt::format("axis {} of a tensor with {} dimensions", axis, rank));
        return 0;
    }
    return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

bool OnnxFollower::has_input(const OnnxNode& node, std::size_t index) const {
    return index < node.inputs.size() && !node.inputs[index].empty();
}

const OnnxValue& OnnxFollower::input(const OnnxNode& node, std::size_t index) {
    static const OnnxValue nothing;
    if (!has_input(node, index)) {
        fail(node, fmt::format("needs input {}", index + 1));
        return nothing;
    }
    const auto found = values_.find(node.inputs[index]);
    if (found != values_.end()) return found->second;
    fail(node, fmt::format("reads \"{}\", which no earlier node makes", one_line(node.inputs[index], 80)));
    return nothing;
}

void OnnxFollower::output(const OnnxNode& node, OnnxValue value, std::size_t index) {
    if (failed() || index >= node.outputs.size() || node.outputs[index].empty()) return;
    if (!is_sane(value.shape)) return fail(node, fmt::format("an output of shape [{}]", fmt::join(value.shape, ", ")));
    if (!values_.emplace(node.outputs[index], std::move(value)).second)
        fail(node, fmt::format("makes \"{}\", which the graph has already; a tensor should have one name of its own",
                               one_line(node.outputs[index], 80)));
}

void OnnxFollower::learns(const OnnxNode& node, OnnxUse use, double natural, const std::vector<OnnxValue>& tensors) {
    if (failed() || layers_.empty()) return;
    counts_.resize(layers_.size());
    Count& count = counts_.back();
    count.natural = natural;
    OnnxLearned::Taken taken;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const OnnxValue& tensor = tensors[i];
        // A norm's factors and shifts that are one vector in the file are equal at the start, and learned apart.
        const bool twin = i > 0 && tensor.part != 0 && tensor.part == tensors[i - 1].part;
        if (!twin)
            taken = learned_.take(tensor.part, {layers_.size() - 1, node.name, use, count_of(tensor.shape),
                                                tensor.piece, use != OnnxUse::other});
        count.taken += taken.count;
        count.shared = count.shared || taken.shared;
    }
}

Value::Array OnnxFollower::take_layers() {
    for (const auto& [layer, more] : learned_.settle()) {
        counts_[layer].taken += more;
        counts_[layer].shared = counts_[layer].shared || more < 0.0;
    }
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        const Count& count = counts_[i];
        if (count.taken == count.natural) continue;
        if (count.taken <= 0.0 && count.shared)
            layers_[i].set("tied", true);
        else
            layers_[i].set("parameters", static_cast<std::int64_t>(std::min(count.taken, 1e16)));  // refused above 1e15
    }
    return std::move(layers_);
}

void OnnxFollower::fail(const OnnxNode& node, const std::string& text) {
    if (!fault_.empty()) return;
    const bool has_remedy = text.find(';') != std::string::npos;
    fault_ = fmt::format("{} \"{}\": {}{}", one_line(node.type, 80),
                         one_line(node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name, 80), text,
                         has_remedy ? "" : "; export the model again, or describe it with dlcast's own layers");
}

Shape OnnxFollower::sample_shape(const Sizes& shape) const {
    Sizes rest = shape;
    if (time_first_ && rest.size() > 2 && static_cast<double>(rest[1]) == batch_) {
        rest.erase(rest.begin() + 1);
    } else if (!rest.empty()) {
        const double first = static_cast<double>(rest[0]) / batch_;
        if (first == 1.0 && rest.size() > 1)
            rest.erase(rest.begin());
        else if (first == std::floor(first) && first >= 1.0)
            rest[0] = static_cast<std::int64_t>(first);
    }
    if (rest.empty()) return {1};
    while (rest.size() > 3) {
        rest[1] *= rest[0];  // below 1e15 by output()
        rest.erase(rest.begin());
    }
    return rest;
}

Value& OnnxFollower::layer(const char* type, const Sizes& shape, const Sizes& result) {
    if (failed() || !is_sane(shape) || !is_sane(result)) {
        if (!failed())
            fault_ = fmt::format("{} of shapes [{}] and [{}]; export the model with sizes that a device holds", type,
                                 fmt::join(shape, ", "), fmt::join(result, ", "));
        discarded_ = Value::object();
        discarded_.set("type", type);
        return discarded_;
    }
    const Shape in = sample_shape(shape);
    Value made = Value::object();
    made.set("type", type);
    // A join without names always says its shape.
    const std::string_view name = type;
    if (in != current_ || name == "add" || name == "multiply" || name == "concat") {
        Value at = Value::array();
        for (const std::int64_t size : in) at.push(size);
        made.set("at", std::move(at));
    }
    current_ = sample_shape(result);
    layers_.push_back(std::move(made));
    return layers_.back();
}

Result<Value> onnx_to_written(ByteStream& stream, const std::string& source, const OpenSizes& sizes) {
    auto graph = read_onnx(stream, source);
    if (!graph) return graph.error();
    std::vector<std::string> assumed;
    if (auto s = check_opset(graph->opset, source, assumed); !s) return s.error();
    if (auto unknown = unknown_operators(*graph, source); !unknown) return unknown.error();
    std::set<std::string> weights;
    for (const OnnxTensor& tensor : graph->initializers) weights.insert(tensor.name);
    const OnnxInput* found = find_input(*graph, weights);
    if (!found) return invalid_argument(source + ": the ONNX graph has no input with a shape; export it with one");
    OnnxInput first = *found;
    if (auto s = check_input(first, source); !s) return s.error();
    const bool time_first = is_time_major(*graph, first);
    close_dimensions(first, time_first ? 1 : 0, sizes, true, assumed);
    if (may_lack_norms(*graph))
        assumed.emplace_back(
            "no batch norms: an exporter may have folded them; where the network has them, export with "
            "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False");

    OnnxFollower follower(time_first ? first.shape[1] : first.shape[0], time_first);
    for (OnnxTensor& tensor : graph->initializers) {
        if (!is_sane(tensor.shape))
            return invalid_argument(fmt::format(
                "{}: the weight \"{}\" has the shape [{}]; each size should be from 0 on, and all of them make at most "
                "1e15 elements: export the model again",
                source, one_line(tensor.name, 80), fmt::join(tensor.shape, ", ")));
        const OnnxPart part = tensor.real ? follower.learned().tensor(tensor.name, tensor.shape) : 0;
        if (!follower.define(tensor.name, {tensor.shape, tensor.values, true, part, tensor.reals}))
            return invalid_argument(fmt::format("{}: two weights are named \"{}\"; export the model again", source,
                                                one_line(tensor.name, 80)));
    }
    for (OnnxInput input : graph->inputs)
        if (!weights.contains(input.name)) {
            if (auto s = check_input(input, source); !s) return s.error();
            close_dimensions(input, time_first && input.name == first.name ? 1 : 0, sizes, false, assumed);
            if (!is_sane(input.shape))
                return invalid_argument(
                    fmt::format("{}: the input \"{}\" has the shape [{}], over 1e15 elements; export a smaller one",
                                source, one_line(input.name, 80), fmt::join(input.shape, ", ")));
            if (!follower.define(input.name, {input.shape, {}, false}))
                return invalid_argument(fmt::format("{}: two inputs are named \"{}\"; export the model again", source,
                                                    one_line(input.name, 80)));
        }
    for (const OnnxNode& node : graph->nodes) {
        const OnnxRule layer = find_layer_rule(node.type);
        (layer ? layer : find_shape_rule(node.type))(follower, node);
        if (follower.failed()) return invalid_argument(fmt::format("{}: {}", source, follower.fault()));
        if (Deadline::passed()) return unavailable(source + ": takes all the time a submission may");
    }
    Value::Array layers = follower.take_layers();
    follower.learned().tell(assumed);
    if (layers.empty())
        return invalid_argument(source + ": no operator of this graph computes; export the network itself");
    Value input = Value::array();
    for (const std::int64_t size : follower.sample_shape(first.shape)) input.push(size);
    Value out = Value::object();
    if (is_telling(graph->name)) out.set("name", one_line(graph->name, 80));
    out.set("input", std::move(input));
    if (!assumed.empty()) {
        Value sentences = Value::array();
        for (std::string& sentence : assumed) sentences.push(std::move(sentence));
        out.set("assumed", std::move(sentences));
    }
    out.set("layers", Value(fold_layers(std::move(layers))));
    return out;
}

}  // namespace dlcast
