// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/lora.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "predictor/base/deadline.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t longest_shown = 80;
constexpr std::size_t most_targets = 100;  // each is held against every layer
constexpr std::size_t most_named = 24;

struct Target {
    std::string name;  // in small letters
    bool found = false;
};

struct Lora {
    std::int64_t rank = 0;
    std::vector<Target> targets;  // none: all projections of attention
    bool all_linear = false;
    bool packed = false;  // the model's three projections are one layer
};

Result<Lora> read_lora(const std::string& text) {
    Lora lora;
    for (const std::string& part : split(text, ',')) {
        const auto equals = part.find('=');
        const std::string key = to_lower(part.substr(0, equals)),
                          value = equals == std::string::npos ? "" : part.substr(equals + 1);
        if (key == "r")
            lora.rank = parse_integer(value).value_or(0);
        else if (key == "targets")
            for (const std::string& name : split(value, '+')) lora.targets.push_back({to_lower(name)});
        else
            return invalid_argument(
                fmt::format("trainable: lora knows \"r\" and \"targets\", not \"{}\"", one_line(key, longest_shown)));
    }
    if (lora.rank < 1 || lora.rank > 65536)
        return invalid_argument("trainable: lora needs a rank from 1 to 65536, as in \"lora:r=16\"");
    if (lora.targets.size() > most_targets)
        return invalid_argument(
            fmt::format("trainable: more than {} targets of lora; name fewer, or \"all-linear\"", most_targets));
    lora.all_linear =
        std::any_of(lora.targets.begin(), lora.targets.end(), [](const Target& t) { return t.name == "all-linear"; });
    return lora;
}

// Names that transformers' models give the parts of a block, and ours.
struct Alias {
    std::string_view name, part, ours;
};
constexpr Alias aliases[] = {
    {"q_proj", "attn", "q"},
    {"query", "attn", "q"},
    {"q_lin", "attn", "q"},
    {"wq", "attn", "q"},
    {"to_q", "attn", "q"},
    {"q_b_proj", "attn", "q"},
    {"q_a_proj", "attn", "q_a"},
    {"k_proj", "attn", "k"},
    {"key", "attn", "k"},
    {"k_lin", "attn", "k"},
    {"wk", "attn", "k"},
    {"to_k", "attn", "k"},
    {"v_proj", "attn", "v"},
    {"value", "attn", "v"},
    {"v_lin", "attn", "v"},
    {"wv", "attn", "v"},
    {"to_v", "attn", "v"},
    {"kv_b_proj", "attn", "kv"},
    {"kv_a_proj_with_mqa", "attn", "kv_a"},
    {"c_attn", "attn", "qkv"},
    {"qkv_proj", "attn", "qkv"},
    {"query_key_value", "attn", "qkv"},
    {"w_pack", "attn", "qkv"},
    {"wqkv", "attn", "qkv"},
    {"in_proj", "attn", "qkv"},
    {"o_proj", "attn", "out"},
    {"out_proj", "attn", "out"},
    {"out_lin", "attn", "out"},
    {"o", "attn", "out"},
    {"to_out", "attn", "out"},
    {"wo", "attn", "out"},
    {"dense", "attn", "out"},
    {"c_proj", "attn", "out"},
    {"gate_proj", "mlp", "gate"},
    {"w1", "mlp", "gate"},
    {"wi_0", "mlp", "gate"},
    {"up_proj", "mlp", "up"},
    {"w3", "mlp", "up"},
    {"wi", "mlp", "up"},
    {"wi_1", "mlp", "up"},
    {"fc1", "mlp", "up"},
    {"c_fc", "mlp", "up"},
    {"fc_in", "mlp", "up"},
    {"lin1", "mlp", "up"},
    {"intermediate_dense", "mlp", "up"},
    {"dense_h_to_4h", "mlp", "up"},
    {"down_proj", "mlp", "down"},
    {"w2", "mlp", "down"},
    {"fc2", "mlp", "down"},
    {"c_proj", "mlp", "down"},
    {"fc_out", "mlp", "down"},
    {"lin2", "mlp", "down"},
    {"output_dense", "mlp", "down"},
    {"dense_4h_to_h", "mlp", "down"},
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_in(std::string_view layer, std::string_view part) {
    for (std::size_t at = layer.find(part); at != std::string_view::npos; at = layer.find(part, at + 1))
        if ((at == 0 || layer[at - 1] == '.') && at + part.size() < layer.size() && layer[at + part.size()] == '.')
            return true;
    return false;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool is_any_in(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// The first part that is a number, of a block among its like; "": none.
std::string_view number_in(std::string_view name) {
    while (!name.empty()) {
        const std::string_view part = name.substr(0, name.find('.'));
        if (!part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos) return part;
        name.remove_prefix(std::min(name.size(), part.size() + 1));
    }
    return "";
}

// A part named so in every family but some.
bool holds_for(const Alias& alias, const ModelSpec& model) {
    return alias.name != "wo" || model.family != "t5" || alias.part == "mlp";
}

// `layer`: its name in small letters. "attn.c_proj" is the one of attention alone.
bool is_named(std::string_view layer, std::string_view target, const ModelSpec& model) {
    if (layer == target || (layer.ends_with(target) && layer[layer.size() - target.size() - 1] == '.')) return true;
    const std::string_view of = target.find('.') == std::string_view::npos ? "" : target.substr(0, target.rfind('.'));
    const bool attention = of.find("attn") != std::string_view::npos || of.find("attention") != std::string_view::npos;
    if (!of.empty() && is_in(layer, "attn") != attention) return false;
    const bool cross = is_any_in(of, {"encoder_attn", "encdecattention", "crossattention", "cross_attn"});
    if (cross && !is_in(layer, "cross")) return false;
    if (is_any_in(of, {"self_attn", "selfattention"}) && is_in(layer, "cross")) return false;
    if (const auto block = number_in(of); !block.empty() && block != number_in(layer)) return false;
    const std::string_view name = last_part(target), ours = last_part(layer);
    for (const Alias& alias : aliases)
        if (alias.name == name && alias.ours == ours && is_in(layer, alias.part) && holds_for(alias, model))
            return true;
    if (!is_in(layer, "mlp")) return false;
    // In BERT and its kin each product behind another is a "dense"; T5's last is "wo".
    if (name == "dense" && is_one_of(model.family, {"bert", "electra", "deberta", "vit", "swin"}))
        return ours == "up" || ours == "down";
    return name == "wo" && model.family == "t5" && ours == "down";
}

struct Adapter {
    std::string suffix;
    std::int64_t out = 0;
};

// The head is what the loss reads, and what a task adds.
bool may_adapt(const ModelSpec& model, std::size_t i) {
    const Layer& layer = model.layers[i];
    if (layer.kind != LayerKind::linear || layer.head || layer.name == "lm_head") return false;
    return i + 1 >= model.layers.size() || model.layers[i + 1].kind != LayerKind::loss;
}

// What stands beside layer `i`. We compute the three projections of images' transformers as one product; transformers
// has three layers.
std::vector<Adapter> adapters_of(const ModelSpec& model, std::size_t i, Lora& lora) {
    const Layer& layer = model.layers[i];
    if (layer.kind != LayerKind::linear) return {};
    const std::string name = to_lower(layer.name);
    const std::int64_t out = layer.output.back();
    if (lora.targets.empty()) return is_in(name, "attn") ? std::vector<Adapter>{{"", out}} : std::vector<Adapter>{};
    if (!may_adapt(model, i)) return {};
    std::vector<std::pair<std::string, Adapter>> parts = {{name, {"", out}}};
    if (is_in(name, "attn") && last_part(name) == "qkv" && is_one_of(model.family, {"vit", "swin"})) {
        const std::string at = name.substr(0, name.size() - 3);
        for (const char* which : {"q", "k", "v"}) parts.push_back({at + which, {std::string(".") + which, out / 3}});
        if (lora.all_linear) parts.erase(parts.begin());
    }
    // Phi-3's two products of a gated MLP are one layer, too.
    if (lora.packed && !lora.all_linear && is_in(name, "mlp") && last_part(name) == "gate")
        parts.push_back({name + "_up_proj", {".up", 2 * out}});
    std::vector<Adapter> found;
    for (const auto& [its_name, adapter] : parts) {
        bool wanted = lora.all_linear;
        for (Target& target : lora.targets)
            if (target.name == "all-linear" || is_named(its_name, target.name, model)) wanted = target.found = true;
        if (wanted) found.push_back(adapter);
    }
    return found;
}

Layer product(const Layer& base, const std::string& suffix, std::int64_t in, std::int64_t out) {
    Layer layer;
    layer.name = base.name + suffix;
    layer.kind = LayerKind::linear;
    layer.input = base.input;
    layer.input.back() = in;
    layer.output = base.output;
    layer.output.back() = out;
    layer.head = true;  // beside the published network
    layer.block = base.block;
    layer.experts = base.experts;
    layer.tied = base.tied;
    const auto copies = static_cast<std::uint64_t>(std::max<std::int64_t>(1, base.experts));
    if (!base.tied) layer.parameters = static_cast<std::uint64_t>(in) * static_cast<std::uint64_t>(out) * copies;
    return layer;
}

void add_adapter(std::vector<Layer>& layers, const Layer& base, const Adapter& adapter, std::int64_t rank) {
    layers.push_back(product(base, adapter.suffix + ".lora_a", base.input.back(), rank));
    layers.push_back(product(base, adapter.suffix + ".lora_b", rank, adapter.out));
    Layer sum = product(base, adapter.suffix + ".lora_add", adapter.out, adapter.out);
    sum.kind = LayerKind::add;
    sum.parameters = 0;
    sum.experts = 0;
    layers.push_back(std::move(sum));
}

std::string joined(const std::vector<Target>& targets, bool found) {
    std::vector<std::string> names;
    for (const Target& target : targets)
        if (target.found == found) names.push_back(target.name);
    return one_line(fmt::format("{}", fmt::join(names, "+")), longest_shown);
}

// None of what is named is there.
Error no_target(const ModelSpec& model, const Lora& lora) {
    if (lora.targets.empty())
        return invalid_argument(fmt::format(
            "trainable: lora adapts projections of attention, and {} has none; name linear layers by \"targets=\", "
            "freeze layers by \"frozen:name\", or train \"all\"",
            model.name.empty() ? std::string("this model") : one_line(model.name, longest_shown)));
    std::vector<std::string> known;
    for (std::size_t i = 0; i < model.layers.size() && known.size() < most_named; ++i)
        if (const std::string last(last_part(model.layers[i].name));
            may_adapt(model, i) && std::find(known.begin(), known.end(), last) == known.end())
            known.push_back(one_line(last, longest_shown));
    if (known.empty())
        return invalid_argument(
            "trainable: lora adapts linear layers, and this model has none but its head; freeze layers by "
            "\"frozen:name\", or train \"all\"");
    return invalid_argument(
        fmt::format("trainable: lora's targets are {}, which no linear layer of this model is named; name some of {}, "
                    "or \"all-linear\"",
                    joined(lora.targets, false), fmt::join(known, ", ")));
}

}  // namespace

Status apply_lora(ModelSpec& model, const std::string& text, std::vector<std::string>& assumed) {
    auto lora = read_lora(text);
    if (!lora) return lora.error();
    lora->packed = std::any_of(model.layers.begin(), model.layers.end(),
                               [](const Layer& layer) { return layer.name.ends_with("attn.qkv"); });
    std::vector<Layer> layers;
    bool any = false;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        if (Deadline::passed()) return unavailable("trainable: takes all the time a submission may");
        layers.push_back(model.layers[i]);
        layers.back().trainable = false;
        for (const Adapter& adapter : adapters_of(model, i, *lora)) {
            any = true;
            add_adapter(layers, model.layers[i], adapter, lora->rank);
        }
    }
    if (!any) return no_target(model, *lora);
    model.layers = std::move(layers);
    if (lora->targets.empty()) assumed.emplace_back("LoRA on all projections of attention (no targets stated)");
    if (const std::string missing = joined(lora->targets, false); !missing.empty())
        assumed.push_back(fmt::format(
            "LoRA's targets {} are left out (no linear layer of this model's blocks is named so)", missing));
    return ok();
}

}  // namespace dlcast
