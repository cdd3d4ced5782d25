// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/keras.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/deadline.h"
#include "predictor/base/json.h"
#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/model/keras_call.h"
#include "predictor/model/keras_graph.h"

namespace dlcast {
namespace {

constexpr std::size_t most_calls = 100'000;  // models inside models, called many times, multiply
constexpr std::size_t longest_shown = 80;

// The first layer of an image that says how it counts channels, in models inside models, too.
const Value* find_data_format(const Value& config) {
    const Value* layers = config.is_array() ? &config : config.find("layers");
    if (!layers || !layers->is_array()) return nullptr;
    for (const Value& layer : layers->as_array()) {
        const Value* kind = layer.find("class_name");
        const Value* inner = layer.find("config");
        if (!kind || !kind->is_string() || !inner) continue;
        if (is_keras_model(kind->as_string())) {
            if (const Value* found = find_data_format(*inner)) return found;
            continue;
        }
        const bool image =
            kind->as_string().find("2D") != std::string::npos && find_keras_window_rule(kind->as_string());
        if (const Value* format = image ? inner->find("data_format") : nullptr; format && format->is_string())
            return format;
    }
    return nullptr;
}

// Whether a shape as Keras 3 writes it, the batch first, may be `known`; open sizes are any.
bool agrees(const Value* stated, const KerasShape& known) {
    if (!stated || !stated->is_array()) return true;
    const Value::Array& sizes = stated->as_array();
    if (sizes.size() != known.size() + 1) return false;
    for (std::size_t i = 0; i < known.size(); ++i)
        if (sizes[i + 1].is_integer() && sizes[i + 1].as_integer() != known[i]) return false;
    return true;
}

// The name of a dtype policy: a text, or an object that holds it.
std::string policy_of(const Value& config) {
    const Value* dtype = config.is_object() ? config.find("dtype") : nullptr;
    if (!dtype) return "";
    if (dtype->is_string()) return dtype->as_string();
    const Value* inner = dtype->find("config");
    const Value* name = inner ? inner->find("name") : nullptr;
    if (!name && inner) name = inner->find("mode");  // of quantised policies
    return name && name->is_string() ? name->as_string() : "";
}

// dlcast's name of what such a policy computes in; nothing: no lower precision than that of the training.
std::optional<std::string> precision_of(const std::string& policy) {
    static constexpr std::pair<std::string_view, const char*> known[] = {
        {"mixed_float16", "amp"}, {"mixed_bfloat16", "bf16"}, {"float16", "fp16"}, {"bfloat16", "bf16"}};
    for (const auto& [theirs, ours] : known)
        if (policy == theirs) return ours;
    return std::nullopt;
}

class Converter {
public:
    Converter(const std::string& source, const OpenSizes& sizes) : source_(source), sizes_(sizes), out_{source} {}

    Result<Value> convert(const Value& tree) {
        static const Value nothing;
        const Value* config = tree.find("config");
        if (!config) config = &nothing;
        const Value* format = find_data_format(*config);
        out_.channels_first = format && format->as_string() == "channels_first";
        auto left = follow(tree, *config, {}, {});
        if (!left) return left.error();
        Value made = Value::object();
        made.at = tree.at;
        if (const Value* name = config->find("name"); name && name->is_string()) made.set("name", name->as_string());
        Value input = Value::array();
        for (const std::int64_t size : out_.ours(*input_)) input.push(size);
        input.at = input_at_;
        made.set("input", std::move(input)).at = input_at_;
        if (!precision_.empty()) made.set("precision", precision_).at = precision_at_;
        if (!assumed_.as_array().empty()) made.set("assumed", std::move(assumed_));
        made.set("layers", std::move(out_.layers));
        return made;
    }

private:
    // Where a model stands inside others.
    struct Scope {
        std::string prefix;  // of the names of its layers
        bool frozen = false, tied = false;
    };

    Result<bool> is_frozen(const Value& config) const {
        const Value* trainable = config.find("trainable");
        if (!trainable || trainable->is_null()) return false;
        if (trainable->is_bool()) return !trainable->as_bool();
        return out_.fault(
            *trainable, fmt::format("trainable of a model is {}; it should be true or false", trainable->kind_name()));
    }

    // One precision holds for a training: the first below 32 bits that a layer or a model names.
    Status note_policy(const Value& place, const Value& config) {
        const std::string policy = policy_of(config);
        for (const char* quantised : {"int8", "int4", "float8"})
            if (policy.starts_with(quantised))
                return out_.fault(place,
                                  fmt::format("dtype policy \"{}\" is of a quantised model, which is not trained "
                                              "so; write the model with Keras before it is quantised",
                                              one_line(policy, longest_shown)));
        const auto precision = precision_of(policy);
        if (!precision) return ok();
        if (precision_.empty()) {
            precision_ = *precision;
            policy_ = policy;
            precision_at_ = place.at;
        } else if (*precision != precision_ && !mixes_) {
            mixes_ = true;
            assumed_.push(fmt::format("dtype policy {} holds for all layers; some say {}", policy_, policy));
        }
        return ok();
    }

    // The layers of `model`, which is given the tensors `in` (none: it stands at the top), and what comes out.
    Result<std::vector<KerasTensor>> follow(const Value& model, const Value& config, const std::vector<KerasTensor>& in,
                                            Scope scope) {
        auto graph = read_keras_graph(model, config, source_);
        if (!graph) return graph.error();
        calls_ += graph->layers.size();
        const auto frozen = is_frozen(config);
        if (!frozen) return frozen.error();
        scope.frozen = scope.frozen || *frozen;
        if (auto s = note_policy(model, config); !s) return s.error();
        std::vector<std::vector<KerasTensor>> left(graph->calls);
        std::vector<bool> called(graph->layers.size(), false);
        for (const auto& [index, number] : graph->order) {
            if (++calls_ > most_calls)
                return out_.fault(
                    model, fmt::format("more than {} calls of layers; describe a part of the network", most_calls));
            const KerasEntry& entry = graph->layers[index];
            const KerasNode& node = entry.calls[number];
            std::vector<KerasTensor> reads;
            std::vector<std::pair<std::string, KerasTensor>> named;
            for (const KerasRef& ref : node.reads)
                if (auto tensor = tensor_of(*graph, left, ref, entry); tensor)
                    reads.push_back(std::move(*tensor));
                else
                    return tensor.error();
            for (const auto& [key, ref] : node.named)
                if (auto tensor = tensor_of(*graph, left, ref, entry); tensor)
                    named.emplace_back(key, std::move(*tensor));
                else
                    return tensor.error();
            const auto place = std::find(graph->inputs.begin(), graph->inputs.end(), index);
            if (entry.kind == "InputLayer" && !in.empty()) {
                const auto given = static_cast<std::size_t>(place - graph->inputs.begin());
                if (given >= in.size())
                    return out_.fault(*entry.layer, fmt::format("input \"{}\" of a model inside is given no tensor; "
                                                                "write the model with Keras again",
                                                                one_line(entry.name, longest_shown)));
                left[entry.first_call + number] = {in[given]};
                continue;
            }
            if (reads.empty() && !named.empty()) reads.push_back(named.front().second);
            if (reads.empty() && !in.empty()) reads = in;  // the first layer of a Sequential
            if (reads.empty() && !is_keras_model(entry.kind)) {
                auto start = enter(entry, config, scope);
                if (!start) return start.error();
                reads = {std::move(*start)};
            }
            auto done = entry.kind == "InputLayer" ? Result<std::vector<KerasTensor>>(std::move(reads))
                        : is_keras_model(entry.kind)
                            ? follow_inner(entry, number, called[index], reads, scope)
                            : call(entry, number, called[index], std::move(reads), std::move(named), scope);
            if (!done) return done.error();
            called[index] = true;
            left[entry.first_call + number] = std::move(*done);
        }
        name_unread(*graph, called);
        std::vector<KerasTensor> ends;
        for (const KerasRef& ref : graph->outputs) {
            auto tensor = tensor_of(*graph, left, ref, graph->layers[ref.layer]);
            if (!tensor) return tensor.error();
            ends.push_back(std::move(*tensor));
        }
        return ends;
    }

    Result<KerasTensor> tensor_of(const KerasGraph& graph, const std::vector<std::vector<KerasTensor>>& left,
                                  const KerasRef& ref, const KerasEntry& reader) const {
        const std::vector<KerasTensor>& tensors = left[graph.number_of(ref)];
        if (ref.tensor < tensors.size()) {
            const KerasTensor& tensor = tensors[ref.tensor];
            if (!agrees(ref.shape, tensor.shape))
                return out_.fault(
                    *ref.shape,
                    fmt::format("\"{}\" reads {} of \"{}\", which leaves {} behind the batch; "
                                "write the model with Keras again",
                                one_line(reader.name, longest_shown),
                                write_json_within(*ref.shape, longest_shown).value_or("a shape"),
                                one_line(graph.layers[ref.layer].name, longest_shown), to_string(tensor.shape)));
            return tensor;
        }
        return out_.fault(*reader.layer,
                          fmt::format("reads tensor {} of \"{}\", of which {} {} known; read tensor 0, or describe the "
                                      "network with dlcast's own layers",
                                      ref.tensor, one_line(graph.layers[ref.layer].name, longest_shown), tensors.size(),
                                      tensors.size() == 1 ? "is" : "are"));
    }

    // Of a null in an input's shape: both sides of an image, the length of a sequence.
    Result<std::int64_t> open_size(const Value& shape, const std::string& input) {
        const auto& sizes = shape.as_array();
        const auto open = std::count_if(sizes.begin() + 1, sizes.end(), [](const Value& v) { return v.is_null(); });
        const bool image = sizes.size() == 4 && open == 2;
        const bool sequence = sizes.size() < 4 && open == 1 && (sizes.size() == 2 || sizes[1].is_null());
        if (!image && !sequence)
            return out_.fault(shape,
                              "dimensions of the input are open that are neither a sequence's length nor both "
                              "sides of an image; write their sizes");
        const std::int64_t stated = image ? sizes_.image_size : sizes_.seq_len;
        if (stated > 0) return stated;
        const std::int64_t usual = image ? usual_image : usual_tokens;
        const std::string sentence =
            fmt::format("{} of input {} is {} (open in the file)", image ? "image_size" : "seq_len",
                        one_line(input, longest_shown), usual);
        if (!named_open_) assumed_.push(sentence);
        named_open_ = true;
        return usual;
    }

    // An input of the whole network.
    Result<KerasTensor> enter(const KerasEntry& entry, const Value& model_config, const Scope& scope) {
        const Value* shape = entry.config->find("batch_shape");
        if (!shape) shape = entry.config->find("batch_input_shape");
        // A Sequential without an InputLayer that was built: Keras 3 keeps the shape beside the layers.
        if (!shape || !shape->is_array()) shape = model_config.find("build_input_shape");
        if (!shape || !shape->is_array())
            return out_.fault(*entry.layer,
                              "no input shape; add \"batch_shape\": [null, 224, 224, 3] to an InputLayer");
        if (shape->as_array().size() < 2 || shape->as_array().size() > 4)
            return out_.fault(*shape, "an input shape should have 1 to 3 dimensions behind the batch");
        KerasShape sizes;
        for (auto size = shape->as_array().begin() + 1; size != shape->as_array().end(); ++size) {
            if (size->is_null()) {
                const auto closed = open_size(*shape, entry.name);
                if (!closed) return closed.error();
                sizes.push_back(*closed);
                continue;
            }
            if (!size->is_integer() || size->as_integer() < 1 || size->as_integer() > 1'000'000'000)
                return out_.fault(*shape, "a dimension of the input should be a whole number from 1 to 1000000000");
            sizes.push_back(size->as_integer());
        }
        if (elements(sizes) > 1e15)
            return out_.fault(*shape, "the input has over 1e15 elements; write the shape of one sample");
        if (!input_) {
            input_ = sizes;
            input_at_ = shape->at;
            return KerasTensor{"input", sizes};
        }
        assumed_.push(fmt::format("input {} is read beside the first one", one_line(entry.name, longest_shown)));
        if (sizes == *input_) return KerasTensor{"input", sizes};
        // A name for a tensor that comes from outside.
        KerasCall made(out_, *entry.layer, entry.kind, *entry.config);
        made.name = scope.prefix + entry.name;
        const KerasShape ours = out_.ours(sizes);
        Value list = Value::array();
        for (const std::int64_t size : ours) list.push(size);
        made.put("reshape", ours, ours).set("shape", std::move(list));
        made.leave(sizes);
        if (made.failed()) return made.fault();
        return made.left.front();
    }

    static std::string call_name(const KerasEntry& entry, std::size_t number) {
        return number == 0 ? entry.name : fmt::format("{}:{}", entry.name, number + 1);
    }

    // A model as a layer, as transfer learning has it: its layers, under its name.
    Result<std::vector<KerasTensor>> follow_inner(const KerasEntry& entry, std::size_t number, bool again,
                                                  const std::vector<KerasTensor>& reads, const Scope& outer) {
        constexpr std::size_t longest_prefix = 96;
        Scope scope{outer.prefix + call_name(entry, number) + "/", outer.frozen, outer.tied || again};
        if (scope.prefix.size() > longest_prefix)
            return out_.fault(*entry.layer, "a model inside models with too long a name; shorten it");
        if (Deadline::passed()) return unavailable(source_ + ": takes all the time a submission may");
        return follow(*entry.layer, *entry.config, reads, std::move(scope));
    }

    Result<std::vector<KerasTensor>> call(const KerasEntry& entry, std::size_t number, bool again,
                                          std::vector<KerasTensor> reads,
                                          std::vector<std::pair<std::string, KerasTensor>> named, const Scope& scope) {
        const KerasRule rule = find_keras_rule(entry.kind);
        if (!rule) {
            const Value* function = entry.config->find("function");
            return out_.fault(*entry.layer,
                              fmt::format("no counterpart for the Keras layer \"{}\"{}; describe the network with "
                                          "dlcast's own layers",
                                          one_line(entry.kind, longest_shown),
                                          function && function->is_string()
                                              ? fmt::format(" ({})", one_line(function->as_string(), longest_shown))
                                              : ""));
        }
        if (auto s = note_policy(*entry.layer, *entry.config); !s) return s.error();
        KerasCall made(out_, *entry.layer, entry.kind, *entry.config);
        made.name = scope.prefix + call_name(entry, number);
        made.in = std::move(reads);
        made.named = std::move(named);
        made.keywords = entry.calls[number].keywords;
        made.tied = scope.tied || again;
        made.frozen = !made.flag("trainable", true) || scope.frozen;
        if (!made.failed()) rule(made);
        if (made.failed()) return made.fault();
        return std::move(made.left);
    }

    // What leads to no output is not computed; an honest forecast says so.
    void name_unread(const KerasGraph& graph, const std::vector<bool>& called) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < called.size(); ++i)
            if (!called[i] && graph.layers[i].kind != "InputLayer")
                names.push_back(one_line(graph.layers[i].name, longest_shown));
        if (names.empty()) return;
        constexpr std::size_t most_shown = 3;
        const std::size_t count = names.size();
        names.resize(std::min(count, most_shown));
        assumed_.push(fmt::format("{} layer{} that lead{} to no output left out: {}{}", count, count == 1 ? "" : "s",
                                  count == 1 ? "s" : "", fmt::join(names, ", "), count > most_shown ? ", ..." : ""));
    }

    const std::string& source_;
    const OpenSizes sizes_;
    KerasOutput out_;
    std::optional<KerasShape> input_;  // of the first input, in Keras's order
    Position input_at_;
    Value assumed_ = Value::array();
    std::string precision_, policy_;  // of the first layer that computes in less than 32 bits
    Position precision_at_;
    bool named_open_ = false;  // a size that the file leaves open
    bool mixes_ = false;       // layers say different ones, which is named once
    std::size_t calls_ = 0;
};

}  // namespace

bool is_keras(const Value& tree) { return tree.find("class_name") && tree.find("config"); }

Result<Value> keras_to_written(Value tree, const std::string& source, const OpenSizes& sizes) {
    return Converter(source, sizes).convert(tree);
}

}  // namespace dlcast
