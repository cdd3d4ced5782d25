// SPDX-License-Identifier: GPL-2.0-or-later
// Keras layers over sequences: embeddings, recurrent layers, attention.
#include <fmt/format.h>

#include <string_view>

#include "predictor/model/keras_call.h"

namespace dlcast {
namespace {

constexpr const char* own_layers = "describe the network with dlcast's own layers";

void write_embedding(KerasCall& c) {
    const std::int64_t rows = c.size("input_dim"), width = c.size("output_dim");
    if (!c.needs_rank(1, "token ids [tokens]")) return;
    const auto look_up = [&](std::int64_t columns, const char* part) -> Value& {
        c.read(c.in.front());
        Value& layer = c.put_learned("embedding", c.shape(), {c.shape()[0], columns}, part);
        layer.set("vocab", rows);
        layer.set("width", columns);
        return layer;
    };
    const KerasShape out = {c.shape()[0], width};
    Value& table = look_up(width, "");
    if (const std::int64_t rank = c.lora_rank(); rank > 0) {
        table.set("trainable", false);
        look_up(rank, ".lora_a");
        Value& back = c.put_learned("linear", {c.shape()[0], rank}, out, ".lora_b");
        back.set("out", width);
        back.set("bias", false);
        c.put_lora_sum(out, 0);
    }
    c.leave(out);
}

// `cell`: the config of the LSTM or GRU, which a Bidirectional holds.
void put_recurrent(KerasCall& c, const std::string& kind, bool both) {
    const std::int64_t units = c.size("units");
    const bool sequences = c.flag("return_sequences", false), states = c.flag("return_state", false);
    const bool bias = c.flag("use_bias", true), reset_after = c.flag("reset_after", true);
    if (!c.needs_rank(2, "a sequence [time, width]")) return;
    const std::int64_t time = c.shape()[0], width = both ? 2 * units : units;
    c.read(c.in.front());
    const KerasShape result = sequences ? KerasShape{time, width} : KerasShape{width};
    Value& layer = c.put_learned(kind == "LSTM" ? "lstm" : "gru", c.shape(), result);
    layer.set("hidden", units);
    if (both) layer.set("bidirectional", true);
    if (!sequences) layer.set("sequences", false);
    // Keras's LSTM has one bias a gate, its GRU two unless "reset_after" is false; dlcast counts two.
    const int biases = !bias ? 0 : kind == "LSTM" || !reset_after ? 1 : 2;
    if (biases != 2) layer.set("biases", biases);
    c.leave(result);
    if (!states || c.failed()) return;
    const int count = (kind == "LSTM" ? 2 : 1) * (both ? 2 : 1);
    const KerasShape state = {units};
    Value shape = Value::array();
    shape.push(units);
    c.put("reshape", state, state, ".state").set("shape", std::move(shape));
    const std::string name = c.out.previous;
    for (int i = 0; i < count; ++i) c.left.push_back({name, state});
}

void write_recurrent(KerasCall& c) { put_recurrent(c, c.kind, false); }

// The layer that a wrapper holds; its config is read from then on.
std::string unwrap(KerasCall& c) {
    const Value* inner = c.value("layer");
    const Value* kind = inner ? inner->find("class_name") : nullptr;
    const Value* config = inner ? inner->find("config") : nullptr;
    if (!kind || !kind->is_string() || !config || !config->is_object()) {
        c.fail("needs \"layer\" with \"class_name\" and \"config\"; write the model with Keras again");
        return "";
    }
    c.config = config;
    c.frozen = c.frozen || !c.flag("trainable", true);
    return kind->as_string();
}

void write_bidirectional(KerasCall& c) {
    const Value* merge = c.config->find("merge_mode");
    const std::string mode = !merge ? "concat" : merge->is_string() ? merge->as_string() : "";
    if (mode != "concat" && mode != "sum" && mode != "mul" && mode != "ave")
        return c.fail_key("merge_mode", "it should be \"concat\", \"sum\", \"mul\" or \"ave\"");
    if (c.value("backward_layer"))
        return c.fail_key("backward_layer", fmt::format("both directions should be the same layer; {}", own_layers));
    const std::string kind = unwrap(c);
    if (c.failed()) return;
    if (kind != "LSTM" && kind != "GRU")
        return c.fail(fmt::format("holds a {}; it should hold an LSTM or GRU, or {}", kind.substr(0, 80), own_layers));
    put_recurrent(c, kind, true);
    if (mode == "concat" || c.failed()) return;
    // The two directions become one.
    KerasShape half = c.left.front().shape;
    half.back() /= 2;
    c.read(c.left.front());
    c.put_at(mode == "mul" ? "multiply" : "add", half, ".merge");
    c.left.front() = {c.out.previous, half};
}

// Once for each step of a sequence, which layers over the last dimension are anyway.
void write_time_distributed(KerasCall& c) {
    const std::string kind = unwrap(c);
    if (c.failed()) return;
    for (const char* rowwise : {"Dense", "Activation", "ReLU", "LeakyReLU", "ELU", "Softmax", "Dropout"})
        if (kind == rowwise && c.shape().size() >= 2) return find_keras_rule(kind)(c);
    c.fail(fmt::format("holds {}; of a sequence Dense, Activation and Dropout are known, else {}", kind.substr(0, 80),
                       own_layers));
}

// A tensor given by keyword, or by its place.
const KerasTensor* argument(const KerasCall& c, const char* key, std::size_t place) {
    for (const auto& [name, tensor] : c.named)
        if (name == key) return &tensor;
    return place < c.in.size() ? &c.in[place] : nullptr;
}

// Projections of query, key and value, the scores, and the projection out.
void write_attention(KerasCall& c) {
    const std::int64_t heads = c.size("num_heads"), key_dim = c.size("key_dim");
    const std::int64_t value_dim = c.size_or("value_dim", key_dim);
    const bool bias = c.flag("use_bias", true);
    const KerasTensor* query = argument(c, "query", 0);
    const KerasTensor* value = argument(c, "value", 1);
    if (!value) return c.fail("needs a query and a value; write the model with Keras again");
    const KerasTensor* key = argument(c, "key", 2);
    if (!key) key = value;
    for (const KerasTensor* tensor : {query, key, value})
        if (tensor->shape.size() != 2)
            return c.fail(fmt::format("needs sequences [time, width]; one has shape {}", to_string(tensor->shape)));
    std::int64_t width = query->shape[1];
    if (const Value* stated = c.value("output_shape")) {
        const Value* one = stated->is_array() && stated->as_array().size() == 1 ? &stated->as_array()[0] : stated;
        if (!one->is_integer() || one->as_integer() < 1 || one->as_integer() > 1'000'000'000)
            return c.fail_key("output_shape", "it should be one whole number from 1 on");
        width = one->as_integer();
    }
    if ((key_dim + value_dim) % 2 != 0)
        return c.fail_key("value_dim", "with key_dim it should make an even sum; " + std::string(own_layers));
    if (static_cast<double>(heads) * static_cast<double>(std::max(key_dim, value_dim)) > 1e9)
        return c.fail("its heads make over 1e9 columns; lower num_heads or key_dim");
    const auto project = [&](const KerasTensor& from, const char* part, std::int64_t columns) {
        c.read(from);
        const KerasShape result = {from.shape[0], columns};
        Value& layer = c.put_learned("linear", from.shape, result, part);
        layer.set("out", columns);
        if (!bias) layer.set("bias", false);
        return KerasTensor{c.out.previous, result};
    };
    const KerasTensor q = project(*query, ".attn.q", heads * key_dim);
    project(*key, ".attn.k", heads * key_dim);
    project(*value, ".attn.v", heads * value_dim);
    if (c.failed()) return;
    // Scores take key_dim a head, the weighted sum value_dim: both take as long as twice their mean.
    const std::int64_t tokens = query->shape[0], head_dim = (key_dim + value_dim) / 2;
    const KerasShape summed = {tokens, heads * head_dim}, attended = {tokens, heads * value_dim};
    c.read(q);
    Value& scores = c.put("scores", q.shape, summed, ".attn.scores");
    scores.set("heads", heads);
    scores.set("head_dim", head_dim);
    if (key->shape[0] != tokens) scores.set("keys", key->shape[0]);
    const Value* mask = c.keywords ? c.keywords->find("use_causal_mask") : nullptr;
    if (mask && mask->is_bool() && mask->as_bool()) scores.set("causal", true);
    if (const Value* rate = c.value("dropout"); rate && rate->is_number() && rate->as_number() > 0.0)
        scores.set("attention_dropout", true);
    const KerasShape result = {tokens, width};
    Value& out = c.put_learned("linear", attended, result, ".attn.out");
    out.set("out", width);
    if (!bias) out.set("bias", false);
    c.leave(result);
}

struct Rule {
    std::string_view kind;
    KerasRule write;
};

constexpr Rule rules[] = {{"Embedding", write_embedding},
                          {"LSTM", write_recurrent},
                          {"GRU", write_recurrent},
                          {"Bidirectional", write_bidirectional},
                          {"TimeDistributed", write_time_distributed},
                          {"MultiHeadAttention", write_attention}};

}  // namespace

KerasRule find_keras_sequence_rule(const std::string& kind) {
    for (const Rule& rule : rules)
        if (rule.kind == kind) return rule.write;
    return nullptr;
}

}  // namespace dlcast
