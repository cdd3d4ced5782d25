// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/keras.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

std::string text_of(const Value* v) { return v && v->is_string() ? v->as_string() : ""; }

// Keras writes [3, 3]; a pair of equal numbers becomes one.
Value shortened(const Value& v) {
    if (!v.is_array() || v.as_array().size() != 2) return v;
    const Value &a = v.as_array()[0], &b = v.as_array()[1];
    return a.is_integer() && b.is_integer() && a.as_integer() == b.as_integer() ? a : v;
}

class Converter {
public:
    explicit Converter(const std::string& source) : source_(source) {}

    Result<Value> convert(Value tree) {
        Value* config = tree.find("config");
        // A Sequential without an InputLayer that was built: Keras 3 keeps the shape beside the layers.
        if (config)
            if (const Value* shape = config->find("build_input_shape"); shape && shape->is_array())
                if (auto s = set_input(*shape, *config); !s) return s.error();
        if (auto s = all(tree, config); !s) return s.error();
        if (!has_input_) return fault(tree, "no input shape; add an InputLayer with \"batch_shape\"");
        Value out = Value::object();
        out.at = tree.at;
        if (config->is_object()) out.set("name", text_of(config->find("name")));
        out.set("input", input_);
        out.set("layers", std::move(out_));
        return out;
    }

private:
    Error fault(const Value& at, const std::string& text) const {
        return invalid_argument(at_place(source_, at.at, text));
    }

    Status all(Value& model, Value* config) {
        // Old Sequential models hold the list itself.
        Value* layers = config && config->is_array() ? config : config ? config->find("layers") : nullptr;
        if (!layers || !layers->is_array()) return fault(model, "a Keras model needs \"config\" with \"layers\"");
        for (Value& layer : layers->as_array()) {
            if (auto s = one(layer); !s) return s;
            layer = Value();  // the next one is made where this one was
        }
        return ok();
    }

    // [null, 224, 224, 3] to [3, 224, 224]; channels last unless the layer says otherwise.
    Status set_input(const Value& shape, const Value& config) {
        if (!shape.is_array() || shape.as_array().size() < 2 || shape.as_array().size() > 4)
            return fault(shape, "an input shape should have 1 to 3 dimensions behind the batch");
        Value::Array sizes(shape.as_array().begin() + 1, shape.as_array().end());
        for (const Value& size : sizes)
            if (!size.is_integer()) return fault(shape, "a dimension of the input is open; write its size");
        if (sizes.size() == 3 && text_of(config.find("data_format")) != "channels_first")
            std::rotate(sizes.begin(), sizes.begin() + 2, sizes.end());
        has_input_ = true;
        input_ = Value(std::move(sizes));
        input_.at = shape.at;
        return ok();
    }

    Status one(Value& layer) {
        const std::string kind = text_of(layer.find("class_name"));
        Value* config = layer.find("config");
        const bool model = kind == "Functional" || kind == "Model" || kind == "Sequential";
        if (kind.empty() || !config || (!config->is_object() && !model))
            return fault(layer, "a Keras layer needs \"class_name\" and \"config\"");
        if (model) return nested(layer, *config);
        const Value* shape = config->find("batch_input_shape");
        if (!shape) shape = config->find("batch_shape");
        if (shape && !has_input_)
            if (auto s = set_input(*shape, *config); !s) return s;
        const std::string name = prefix_ + text_of(config->find("name"));
        if (kind == "InputLayer") return enter(layer, name);
        if (passes_through(kind)) {
            const std::vector<std::string> sources = sources_of(layer);
            stands_for_[name] = sources.empty() ? current_ : sources[0];
            current_ = stands_for_[name];
            return ok();
        }
        Value made = Value::object();
        made.as_object().reserve(8);
        made.at = layer.at;
        if (auto s = body(kind, *config, layer, made); !s) return s;
        made.set("name", name);
        set_sources(layer, made);
        const Value* trainable = config->find("trainable");
        if (frozen_ || (trainable && trainable->is_bool() && !trainable->as_bool())) made.set("trainable", false);
        out_.push(std::move(made));
        if (kind == "SeparableConv2D") push_pointwise(*config, layer, name);
        previous_ = current_ = name;
        return ok();
    }

    // An input of the whole network, or of a model inside it, which stands for what that model is given.
    Status enter(const Value& layer, const std::string& name) {
        if (!has_input_)
            return fault(layer, "InputLayer needs a batch_shape; add \"batch_shape\": [null, 224, 224, 3]");
        if (prefix_.empty() && has_root_input_)
            return fault(layer, "more than one input; describe the network with dlcast's own layers");
        if (prefix_.empty()) has_root_input_ = true;
        stands_for_[name] = current_;
        return ok();
    }

    // A model as a layer, as transfer learning has it: its layers, under its name.
    Status nested(Value& layer, Value& config) {
        constexpr std::size_t longest_prefix = 96;
        const std::vector<std::string> sources = sources_of(layer);
        const Value* inner_name = config.find("name");
        const std::string name = prefix_ + text_of(inner_name ? inner_name : layer.find("name"));
        if (name.size() > longest_prefix) return fault(layer, "a model inside models with too long a name; shorten it");
        const std::string outer_prefix = prefix_;
        const bool outer_frozen = frozen_;
        if (sources.size() == 1) current_ = sources[0];
        const Value* trainable = config.find("trainable");
        frozen_ = frozen_ || (trainable && trainable->is_bool() && !trainable->as_bool());
        prefix_ = name + "/";
        if (auto s = all(layer, &config); !s) return s;
        // The layer that comes out need not be the last one.
        std::vector<std::string> outputs;
        if (const Value* named = config.find("output_layers")) inbound(*named, outputs);
        if (outputs.size() == 1) current_ = resolved(prefix_ + outputs[0]);
        prefix_ = outer_prefix;
        frozen_ = outer_frozen;
        stands_for_[name] = current_;
        return ok();
    }

    // Layers that change or augment the data, too cheap to count.
    static bool passes_through(const std::string& kind) {
        constexpr std::string_view kinds[] = {"Rescaling",
                                              "Normalization",
                                              "RandomFlip",
                                              "RandomRotation",
                                              "RandomZoom",
                                              "RandomTranslation",
                                              "RandomContrast",
                                              "GaussianNoise",
                                              "RandomBrightness",
                                              "Identity",
                                              "ActivityRegularization"};
        return std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds);
    }

    // Names of the layers a layer reads. Keras 2: [[["a", 0, 0, {}]]]; Keras 3: keras_history inside args.
    void inbound(const Value& v, std::vector<std::string>& names) const {
        if (v.is_array() && !v.as_array().empty() && v.as_array()[0].is_string()) {
            names.push_back(v.as_array()[0].as_string());
            return;
        }
        if (v.is_array())
            for (const Value& inner : v.as_array()) inbound(inner, names);
        if (!v.is_object()) return;
        if (const Value* history = v.find("keras_history")) return inbound(*history, names);
        for (const char* key : {"args", "config"})
            if (const Value* inner = v.find(key)) inbound(*inner, names);
    }

    std::string resolved(const std::string& name) const {
        const auto found = stands_for_.find(name);
        return found == stands_for_.end() ? name : found->second;
    }

    std::vector<std::string> sources_of(const Value& layer) const {
        std::vector<std::string> names;
        if (const Value* nodes = layer.find("inbound_nodes")) inbound(*nodes, names);
        for (std::string& name : names) name = resolved(prefix_ + name);
        return names;
    }

    void set_sources(const Value& layer, Value& made) const {
        std::vector<std::string> names = sources_of(layer);
        const std::string type = text_of(made.find("type"));
        if (type == "add" || type == "multiply" || type == "concat") {
            Value from = Value::array();
            for (const std::string& name : names) from.push(name).at = layer.at;
            made.set("from", std::move(from)).at = layer.at;
            return;
        }
        if (names.empty()) names.push_back(current_);
        if (names.size() == 1 && names[0] != previous_) made.set("from", names[0]).at = layer.at;
    }

    void push_pointwise(const Value& config, const Value& layer, const std::string& name) {
        Value made = Value::object();
        made.at = layer.at;
        made.set("type", "conv2d").at = layer.at;
        made.set("kernel", 1);
        copy(config, made, "filters", "out");
        copy(config, made, "use_bias", "bias");
        copy(config, made, "activation", "activation");
        made.set("name", name);
        out_.push(std::move(made));
    }

    static void copy(const Value& config, Value& made, const char* from, const char* to) {
        const Value* v = config.find(from);
        if (!v || v->is_null() || v->is_object()) return;
        if (v->is_string() && v->as_string() == "linear") return;
        const Value value = shortened(*v);
        const std::string key = to;
        // What dlcast takes for granted stays out of the payload.
        if (key == "bias" && value.is_bool() && value.as_bool()) return;
        if ((key == "stride" || key == "dilation" || key == "groups") && value.is_integer() && value.as_integer() == 1)
            return;
        made.set(to, value);
    }

    static void copy_window(const Value& config, Value& made, const char* kernel) {
        copy(config, made, kernel, "kernel");
        if (const Value* strides = config.find("strides"); strides && !strides->is_null())
            made.set("stride", shortened(*strides));
        if (text_of(config.find("padding")) == "same") made.set("padding", "same");
    }

    Status body(const std::string& kind, const Value& config, const Value& layer, Value& made) const {
        const auto type = [&](const char* name) { made.set("type", name).at = layer.at; };
        const auto copies = [&](std::initializer_list<std::pair<const char*, const char*>> keys) {
            for (const auto& [from, to] : keys) copy(config, made, from, to);
        };
        if (kind == "Conv2D" || kind == "Convolution2D" || kind == "Conv2DTranspose" || kind == "Conv1D") {
            type(kind == "Conv1D" ? "conv1d" : kind == "Conv2DTranspose" ? "conv2d_transpose" : "conv2d");
            copy_window(config, made, "kernel_size");
            copies({{"filters", "out"}, {"groups", "groups"}, {"use_bias", "bias"}, {"activation", "activation"}});
            if (const Value* dilation = config.find("dilation_rate"); dilation && kind != "Conv2DTranspose")
                if (const Value d = shortened(*dilation); d.is_integer() && d.as_integer() > 1) made.set("dilation", d);
            if (kind == "Conv1D")
                for (const char* key : {"kernel", "stride"})
                    if (Value* v = made.find(key); v && v->is_array() && v->as_array().size() == 1)
                        *v = Value(v->as_array()[0]);
            if (const Value* stride = made.find("stride"); stride && stride->is_integer() && stride->as_integer() == 1)
                std::erase_if(made.as_object(), [](const Value::Member& m) { return m.key == "stride"; });
        } else if (kind == "DepthwiseConv2D" || kind == "SeparableConv2D") {
            type("depthwise_conv2d");
            copy_window(config, made, "kernel_size");
            copies({{"depth_multiplier", "multiplier"}});
            if (kind == "DepthwiseConv2D")
                copies({{"use_bias", "bias"}, {"activation", "activation"}});
            else
                made.set("bias", false);
        } else if (kind == "Dense") {
            type("linear");
            copies({{"units", "out"}, {"use_bias", "bias"}, {"activation", "activation"}});
        } else if (kind == "MaxPooling2D" || kind == "AveragePooling2D") {
            type(kind == "MaxPooling2D" ? "max_pool" : "avg_pool");
            copy_window(config, made, "pool_size");
        } else if (kind == "GlobalAveragePooling2D" || kind == "GlobalMaxPooling2D") {
            type("adaptive_avg_pool");
            made.set("out", 1);
        } else if (kind == "Activation") {
            type("activation");
            copies({{"activation", "function"}});
        } else if (kind == "ReLU" || kind == "LeakyReLU" || kind == "Softmax" || kind == "PReLU" || kind == "ELU") {
            type(kind == "LeakyReLU" ? "leaky_relu"
                 : kind == "Softmax" ? "softmax"
                 : kind == "PReLU"   ? "prelu"
                 : kind == "ELU"     ? "elu"
                                     : "relu");
        } else if (kind == "UpSampling2D") {
            type("upsample");
            copies({{"size", "factor"}});
        } else if (kind == "ZeroPadding2D") {
            type("pad");
            Value sides = Value::array();
            if (const Value* padding = config.find("padding"); padding && padding->is_array())
                for (const Value& pair : padding->as_array())
                    for (const Value& side : pair.is_array() ? pair.as_array() : Value::Array{pair, pair})
                        sides.push(side);
            made.set("padding", std::move(sides));
        } else if (kind == "Embedding") {
            type("embedding");
            copies({{"input_dim", "vocab"}, {"output_dim", "width"}});
        } else if (kind == "LSTM" || kind == "GRU") {
            recurrent(kind, config, layer, made);
        } else if (kind == "Bidirectional") {
            const Value* inner = config.find("layer");
            const std::string inner_kind = inner ? text_of(inner->find("class_name")) : "";
            if ((inner_kind != "LSTM" && inner_kind != "GRU") || !inner->find("config"))
                return fault(layer, "Bidirectional should hold an LSTM or GRU");
            recurrent(inner_kind, *inner->find("config"), layer, made);
            made.set("bidirectional", true);
        } else if (kind == "Reshape") {
            return reshape(config, layer, made);
        } else {
            static const std::pair<const char*, const char*> plain[] = {{"BatchNormalization", "batch_norm"},
                                                                        {"LayerNormalization", "layer_norm"},
                                                                        {"GroupNormalization", "group_norm"},
                                                                        {"Dropout", "dropout"},
                                                                        {"SpatialDropout2D", "dropout"},
                                                                        {"Flatten", "flatten"},
                                                                        {"Add", "add"},
                                                                        {"Multiply", "multiply"},
                                                                        {"Concatenate", "concat"}};
            const auto found = std::find_if(std::begin(plain), std::end(plain),
                                            [&](const auto& entry) { return entry.first == kind; });
            if (found == std::end(plain))
                return fault(
                    layer,
                    fmt::format(
                        "no counterpart for the Keras layer \"{}\"; describe the network with dlcast's own layers",
                        kind.substr(0, 80)));
            type(found->second);
        }
        return ok();
    }

    static void recurrent(const std::string& kind, const Value& config, const Value& layer, Value& made) {
        made.set("type", kind == "LSTM" ? "lstm" : "gru").at = layer.at;
        copy(config, made, "units", "hidden");
        const Value* sequences = config.find("return_sequences");
        if (!sequences || !sequences->is_bool() || !sequences->as_bool()) made.set("sequences", false);
    }

    // Keras counts channels last.
    Status reshape(const Value& config, const Value& layer, Value& made) const {
        const Value* target = config.find("target_shape");
        if (!target || !target->is_array() || target->as_array().empty())
            return fault(layer, "Reshape needs a target_shape");
        Value::Array sizes = target->as_array();
        if (sizes.size() == 3) std::rotate(sizes.begin(), sizes.begin() + 2, sizes.end());
        made.set("type", "reshape").at = layer.at;
        made.set("shape", Value(std::move(sizes)));
        return ok();
    }

    const std::string& source_;
    Value out_ = Value::array();
    Value input_;
    bool has_input_ = false, has_root_input_ = false;
    bool frozen_ = false;
    std::string prefix_;                             // names of the models that the layer stands in
    std::string previous_ = "input";                 // the layer made last
    std::string current_ = "input";                  // whose output the next layer reads, unless it says otherwise
    std::map<std::string, std::string> stands_for_;  // layers that make none, by what they hand on
};

}  // namespace

bool is_keras(const Value& tree) { return tree.find("class_name") && tree.find("config"); }

Result<Value> keras_to_written(Value tree, const std::string& source) {
    return Converter(source).convert(std::move(tree));
}

}  // namespace dlcast
