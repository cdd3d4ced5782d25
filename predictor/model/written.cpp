// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/written.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "predictor/base/text.h"
#include "predictor/model/shape.h"
#include "predictor/model/workload.h"
#include "predictor/model/written_layer.h"

namespace dlcast {
namespace {

// A name is kept for every repeat, and a list of tensors is read for every repeat: both are bounded.
constexpr std::size_t longest_name = 128;
constexpr std::size_t most_joined = 256;
constexpr std::int64_t most_repeats = 100'000;

std::string canonical_type(const std::string& text) {
    const std::string type = to_lower(text);
    if (type == "dense" || type == "fc") return "linear";
    if (type == "conv") return "conv2d";
    if (type == "maxpool2d" || type == "max_pool2d") return "max_pool";
    if (type == "avgpool2d" || type == "avg_pool2d") return "avg_pool";
    if (type == "batchnorm2d" || type == "batchnorm") return "batch_norm";
    if (type == "layernorm") return "layer_norm";
    return type;
}

bool joins(const std::string& type) { return type == "add" || type == "multiply" || type == "concat"; }

class Writer {
public:
    Writer(ModelBuilder& builder, const std::string& source) : b_(builder), source_(source) {
        tensors_["input"] = builder.shape();
    }

    Status append_all(const Value& layers) {
        if (!layers.is_array() || layers.as_array().empty())
            return invalid_argument(at_place(
                source_, layers.at,
                layers.is_array() ? std::string("layers is empty; write at least one layer")
                                  : fmt::format("layers is {}; it should be an array of layers", layers.kind_name())));
        for (const Value& layer : layers.as_array())
            if (auto s = append_repeated(layer); !s) return s;
        return ok();
    }

    // Whether layers have shapes that do not follow from the input's.
    bool has_fixed_shapes() const { return fixed_; }

private:
    Error at(const Value& value, const std::string& text) const {
        return invalid_argument(at_place(source_, value.at, text));
    }

    Status append_repeated(const Value& layer) {
        if (!layer.is_object())
            return at(layer, fmt::format("a layer is {}; it should be an object with \"type\"", layer.kind_name()));
        std::int64_t repeat = 1;
        if (const Value* value = layer.find("repeat")) {
            if (!value->is_integer() || value->as_integer() < 1 || value->as_integer() > most_repeats)
                return at(*value, fmt::format("repeat should be a whole number from 1 to {}", most_repeats));
            repeat = value->as_integer();
        }
        for (std::int64_t i = 0; i < repeat; ++i)
            if (auto s = layer.find("layers") ? append_group(layer) : append_one(layer); !s) return s;
        return ok();
    }

    // { "repeat": 4, "layers": [..] }: one block of the network each time.
    Status append_group(const Value& group) {
        ObjectReader r(group, source_, "a group of layers");
        for (const char* key : {"layers", "repeat", "name"}) r.value(key);
        if (auto s = r.finish(); !s) return s;
        const bool outermost = !in_group_;
        if (outermost) b_.set_block(block_++);
        in_group_ = true;
        auto result = append_all(*group.find("layers"));
        if (outermost) {
            in_group_ = false;
            b_.set_block(-1);
        }
        return result;
    }

    Status append_one(const Value& layer) {
        const Value* type_value = layer.find("type");
        if (!type_value || !type_value->is_string()) return at(layer, "a layer needs a type; add \"type\": \"conv2d\"");
        const std::string type = canonical_type(type_value->as_string());
        const LayerWriter write = find_layer_writer(type);
        if (!write && !joins(type)) {
            const std::string near = nearest_name(type, layer_type_names());
            return at(*type_value,
                      fmt::format("unknown layer type \"{}\"; {}", type_value->as_string().substr(0, 80),
                                  near.empty() ? fmt::format("known: {}", fmt::join(layer_type_names(), ", "))
                                               : fmt::format("did you mean \"{}\"?", near)));
        }
        const Value* name_value = layer.find("name");
        if (name_value && !name_value->is_string()) return at(*name_value, "name should be a string");
        if (name_value && name_value->as_string().size() > longest_name)
            return at(*name_value, fmt::format("name is longer than {} bytes; shorten it", longest_name));
        const std::string name = name_value ? name_value->as_string() : fmt::format("{}_{}", type, ++count_[type]);
        const std::size_t first = b_.size();
        WrittenLayer written(layer, source_, type, name, b_);
        if (auto s = go_on_at(written); !s) return s;
        if (joins(type) && !layer.find("from")) {
            if (auto s = join_at(layer, written); !s) return s;
        } else if (joins(type)) {
            if (auto s = join(layer, type, name); !s) return s;
        } else {
            if (auto s = go_on_from(layer); !s) return s;
            fixed_ = fixed_ || layer.find("shape");
            write(written);
        }
        if (const auto trainable = written.reader.boolean("trainable"); trainable && !*trainable) b_.freeze_from(first);
        if (written.reader.boolean("tied").value_or(false)) b_.share_from(first);
        if (auto s = written.finish(); !s) return s;
        tensors_[name] = b_.shape();
        return ok();
    }

    Result<Shape> tensor(const Value& name) const {
        if (!name.is_string()) return at(name, "from should name layers");
        const auto found = tensors_.find(name.as_string());
        if (found != tensors_.end()) return found->second;
        std::vector<std::string> known;
        for (const auto& [key, shape] : tensors_) known.push_back(key);
        const std::string near = nearest_name(name.as_string(), known);
        return at(name, fmt::format("from names \"{}\", which is no earlier layer{}", name.as_string().substr(0, 80),
                                    near.empty() ? "; give that layer a \"name\""
                                                 : fmt::format("; did you mean \"{}\"?", near)));
    }

    // "at": the layer reads a tensor of this shape, wherever it comes from.
    Status go_on_at(WrittenLayer& layer) {
        const auto shape = layer.reader.integers("at", 1, 1'000'000'000'000);
        if (layer.reader.failed() || !shape) return ok();
        fixed_ = true;
        if (shape->empty() || shape->size() > 3) layer.reader.fail("at", "at should have 1 to 3 dimensions");
        if (layer.reader.failed()) return ok();
        if (elements(*shape) > 1e15)
            layer.reader.fail("at", "at has over 1e15 elements; write the shape of one sample");
        b_.continue_from(*shape);
        return ok();
    }

    // A join of a tensor with others that have no names: their shapes are the same, or channels are counted.
    Status join_at(const Value& layer, WrittenLayer& written) {
        if (!layer.find("at") && !layer.find("others") && !layer.find("parameters"))
            return at(layer, fmt::format("{0} needs a from; add \"from\": \"name of an earlier layer\"", written.type));
        Layer& made = written.type == "concat" ? b_.concat(written.name, written.size_or("others", 0, 0))
                      : written.type == "add"  ? b_.add(written.name)
                                               : b_.multiply(written.name);
        const auto learned = written.reader.integer("parameters", 0, 1'000'000'000'000'000);
        if (learned && !b_.failed()) b_.add_parameters(made, static_cast<double>(*learned));
        return ok();
    }

    Status go_on_from(const Value& layer) {
        const Value* from = layer.find("from");
        if (!from) return ok();
        auto shape = tensor(*from);
        if (!shape) return shape.error();
        b_.continue_from(*shape);
        return ok();
    }

    // "from": one name joins that tensor with the current one, an array joins exactly those named.
    Status join(const Value& layer, const std::string& type, const std::string& name) {
        const Value* from = layer.find("from");
        if (from->is_array() && from->as_array().size() > most_joined)
            return at(*from, fmt::format("from names more than {} layers; join them in several steps", most_joined));
        std::vector<Shape> shapes;
        if (!from->is_array()) shapes.push_back(b_.shape());
        const Value::Array one = {*from};
        for (const Value& entry : from->is_array() ? from->as_array() : one) {
            auto shape = tensor(entry);
            if (!shape) return shape.error();
            shapes.push_back(*shape);
        }
        if (shapes.empty()) return at(*from, "from is empty");
        b_.continue_from(shapes.front());
        return type == "concat" ? concat(*from, shapes, name) : combine(*from, shapes, type, name);
    }

    Status combine(const Value& place, const std::vector<Shape>& shapes, const std::string& type,
                   const std::string& name) {
        for (std::size_t i = 1; i < shapes.size(); ++i) {
            // A channel's factor spreads over its image.
            const bool spreads = type == "multiply" && elements(shapes[i]) == static_cast<double>(shapes[0][0]);
            if (shapes[i] != shapes[0] && !spreads)
                return at(place, fmt::format("{} of shapes {} and {}; they should be equal", type, to_string(shapes[0]),
                                             to_string(shapes[i])));
            type == "add" ? b_.add(name) : b_.multiply(name);
        }
        if (shapes.size() == 1) b_.reshape(name, shapes[0]);
        return ok();
    }

    Status concat(const Value& place, const std::vector<Shape>& shapes, const std::string& name) {
        double others = 0.0;
        for (std::size_t i = 1; i < shapes.size(); ++i) {
            const Shape &a = shapes[0], &c = shapes[i];
            const bool same_image = a.size() == 3 && c.size() == 3 && a[1] == c[1] && a[2] == c[2];
            const bool same_tokens = a.size() == c.size() && a.size() < 3 && (a.size() == 1 || a[0] == c[0]);
            if (a.size() > 3 || c.size() > 3)
                return at(place, fmt::format("concat of shapes {} and {}; reshape them to at most 3 dimensions",
                                             to_string(a), to_string(c)));
            if (!same_image && !same_tokens)
                return at(place, fmt::format("concat of shapes {} and {}; all but the channels should be equal",
                                             to_string(a), to_string(c)));
            others += static_cast<double>(same_image ? c[0] : c.back());
        }
        if (others > 1e9) return at(place, "concat makes over 1e9 channels; join fewer layers");
        b_.concat(name, static_cast<std::int64_t>(others));
        return ok();
    }

    ModelBuilder& b_;
    const std::string& source_;
    std::map<std::string, Shape> tensors_;
    std::map<std::string, int> count_;
    int block_ = 0;
    bool in_group_ = false;
    bool fixed_ = false;
};

// Every model trains against a loss over its last outputs.
void add_missing_loss(ModelBuilder& b) {
    if (b.failed() || b.back().kind == LayerKind::loss) return;
    if (const Shape& out = b.shape(); out.size() == 3 && out[1] == 1 && out[2] == 1) b.flatten("flatten_loss");
    b.loss("loss");
}

}  // namespace

void read_assumed(ObjectReader& r, std::vector<std::string>& assumed) {
    constexpr std::size_t most = 16, longest = 200;
    if (!r.has("assumed")) return;
    const auto sentences = r.strings("assumed");
    for (std::size_t i = 0; sentences && i < std::min(most, sentences->size()); ++i)
        assumed.push_back(one_line((*sentences)[i], longest));
}

std::vector<std::string> layer_type_names() {
    std::vector<std::string> names = layer_writer_names();
    for (const char* type :
         {"add", "multiply", "concat", "relu", "gelu", "silu", "sigmoid", "tanh", "relu6", "leaky_relu"})
        names.emplace_back(type);
    return names;
}

Result<ModelSpec> build_written_model(const Value& model, const std::string& source, std::int64_t seq_len,
                                      std::vector<std::string>& assumed) {
    ObjectReader r(model, source, "model");
    const std::string name = r.string("name").value_or("");
    r.require("input", "add the shape of one sample: [3, 224, 224], [512] for token ids");
    r.value("layers");
    read_assumed(r, assumed);
    if (const auto precision = r.string("precision"); precision && !precision_from(*precision))
        r.fail("precision", fmt::format("precision is \"{}\"; it should be fp32, tf32, amp, fp16, bf16 or fp8",
                                        one_line(*precision, 80)));
    Shape input = r.integers("input", 1, 1'000'000'000).value_or(std::vector<std::int64_t>{1});
    if (!r.failed() && (input.empty() || input.size() > 3))
        r.fail("input", "input should be [channels, height, width], [tokens, width], [tokens] or [width]");
    if (auto s = r.finish(); !s) return s.error();
    const bool changes = seq_len > 0 && input.size() < 3 && seq_len != input[0];
    const Shape stated = input;
    if (changes) input[0] = seq_len;
    ModelBuilder b(input);
    if (b.failed()) return invalid_argument(at_place(source, model.find("input")->at, b.fault()));
    Writer writer(b, source);
    if (auto s = writer.append_all(*model.find("layers")); !s && !(changes && writer.has_fixed_shapes()))
        return s.error();
    if (changes && writer.has_fixed_shapes()) return build_written_model(model, source, stated[0], assumed);
    const std::size_t written = b.size();
    add_missing_loss(b);
    if (b.size() > written) assumed.push_back("a loss over the last layer's outputs (none written)");
    auto built = b.finish(name, "");
    if (!built) return invalid_argument(at_place(source, model.at, built.error().message));
    if (input.size() == 3) built->image_size = input[1];
    for (const Layer& layer : built->layers)
        if (layer.kind == LayerKind::embedding || layer.kind == LayerKind::attention ||
            (input.size() == 2 && (layer.kind == LayerKind::lstm || layer.kind == LayerKind::gru)))
            built->seq_len = input[0];
    if (input.size() == 3) built->seq_len = 0;
    return built;
}

}  // namespace dlcast
