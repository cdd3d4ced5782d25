// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/model/hf_defaults.h"
#include "predictor/model/hf_family.h"
#include "predictor/model/hf_keys.h"
#include "predictor/model/hf_unknown.h"
#include "predictor/model/written.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_size = 10'000'000;
// Positions cost nothing where no table has a row for each: Llama 4 allows 10,485,760 tokens.
constexpr std::int64_t most_positions = 1'000'000'000;
constexpr std::size_t longest_shown = 80;
constexpr std::size_t most_named = 20;
// The deepest published transformers have 1,000 blocks (DeepNet); a forged config must not buy ten million.
constexpr std::int64_t most_blocks = 2048;

std::int64_t most_of(std::string_view key) {
    constexpr std::string_view lengths[] = {"max_position_embeddings", "n_positions", "max_seq_len",
                                            "model_max_length",        "seq_length",  "max_length"};
    if (std::find(std::begin(lengths), std::end(lengths), key) != std::end(lengths)) return most_positions;
    return key.find("layer") != std::string_view::npos || key == "depths" ? most_blocks : most_size;
}

// Of these null is an answer, not silence: as many as heads, no latent, no block in the middle.
bool says_none(std::string_view key) {
    return key == "num_key_value_heads" || key == "q_lora_rank" || key == "mid_block_type";
}

// Of these any key may matter.
bool is_unknown_family(const Value& config) {
    const Value* type = config.find("model_type");
    return type && type->is_string() && !config.find("text_config") && !find_family(canonical_type(type->as_string()));
}

// `language`: of an unknown family all that may matter is kept, too.
Value keep(const Value& config, bool language) {
    static const std::unordered_set<std::string_view> known = [] {
        std::unordered_set<std::string_view> all(hf_keys.begin(), hf_keys.end());
        for (const LeftOut& one : left_out) all.insert(one.key);
        return all;
    }();
    Value out = Value::object();
    out.at = config.at;
    const bool unknown = language && is_unknown_family(config);
    const Value::Member* other = unknown ? other_layers(config) : nullptr;
    for (const Value::Member& member : config.as_object()) {
        if (member.value.is_null() && !says_none(member.key)) continue;
        if (!known.contains(member.key) && &member != other && !(unknown && may_change_network(member))) continue;
        out.as_object().push_back(member);
        if (member.value.is_object()) out.as_object().back().value = keep(member.value, member.key == "text_config");
    }
    // Transformers writes the names of labels, and their number only where it is its own default.
    const Value* names = config.find("id2label");
    if (names && names->is_object() && !names->as_object().empty() && !out.find("num_labels"))
        out.set("num_labels", static_cast<std::int64_t>(names->as_object().size())).at = names->at;
    return out;
}

}  // namespace

Value keep_hf_keys(const Value& config) { return keep(config, true); }

HfConfig::HfConfig(const Value& config, std::string source, const BuildOptions& build_options,
                   std::vector<std::string>& sentences)
    : options(build_options), assumed(sentences), config_(config), reader_(config, std::move(source), "config") {
    // Which of them a family reads is its own matter; none is unknown.
    for (const char* key : hf_keys) reader_.value(key);
    for (const LeftOut& one : left_out) reader_.value(one.key);
    if (is_unknown_family(config))
        for (const Value::Member& member : config.as_object()) reader_.value(member.key);
    read_assumed(reader_, assumed);
}

bool HfConfig::has(const char* name) {
    asked_.insert(name);
    const Value* value = reader_.value(name);
    return value && !value->is_null();
}

bool HfConfig::says_null(const char* name) const {
    const Value* value = config_.find(name);
    return value && value->is_null();
}

void HfConfig::name_what_is_left_out() {
    for (const LeftOut& one : left_out) {
        const Value* value = config_.find(one.key);
        if (!value || value->is_null() || asked_.contains(one.key) || write_json(*value) == one.computed_with) continue;
        assumed.push_back(fmt::format("{} of the config is left out, as if it were {}", one.key, one.computed_with));
    }
    if (!is_unknown_family(config_)) return;
    std::vector<std::string> unread;
    for (const Value::Member& member : config_.as_object()) {
        const bool named = std::any_of(std::begin(left_out), std::end(left_out),
                                       [&](const LeftOut& one) { return member.key == one.key; });
        if (!named && !asked_.contains(member.key) && worth_naming(member))
            unread.push_back(one_line(fmt::format("{} {}", member.key, write_json(member.value)), longest_shown));
    }
    const std::size_t more = unread.size() > most_named ? unread.size() - most_named : 0;
    unread.resize(unread.size() - more);
    if (more > 0) unread.push_back(fmt::format("{} more", more));
    if (!unread.empty())
        assumed.push_back(
            fmt::format("not read of the config: {}; where they change the network, take "
                        "contrib/torch_export.py or write the layers",
                        fmt::join(unread, ", ")));
}

namespace {

// Numbers that a config writes as -1 where the code decides, or there is no bound.
bool may_be_open(std::string_view key) {
    constexpr std::string_view keys[] = {"max_position_embeddings",
                                         "n_positions",
                                         "max_seq_len",
                                         "model_max_length",
                                         "seq_length",
                                         "mem_len",
                                         "n_inner",
                                         "position_buckets",
                                         "rotary_dim",
                                         "max_length",
                                         "max_relative_positions"};
    return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

// Of these a network has at least one; of the others (experts, layers without them) it may have none.
std::int64_t least_of(std::string_view key) {
    for (const std::string_view part : {"head", "hidden", "intermediate_size", "ffn", "vocab_size", "patch_size",
                                        "image_size", "d_kv", "kv_channels", "group_num"})
        if (key.find(part) != std::string_view::npos && key.find("shared") == std::string_view::npos &&
            key != "tgt_vocab_size" && key != "type_vocab_size" && key != "head_convs")
            return 1;
    return 0;
}

// The activations of transformers (activations.py); another is one of the usual cost.
std::string known_function(std::string_view key, std::string text, std::vector<std::string>& assumed) {
    constexpr std::string_view keys[] = {"hidden_act",        "activation_function", "activation",
                                         "hidden_activation", "feed_forward_proj",   "ff_activation"};
    constexpr std::string_view functions[] = {
        "gelu",          "gelu_10",    "gelu_fast", "gelu_new", "gelu_python", "gelu_pytorch_tanh",
        "gelu_accurate", "quick_gelu", "relu",      "relu2",    "relu6",       "silu",
        "swish",         "tanh",       "sigmoid",   "mish",     "linear",      "leaky_relu",
        "laplace",       "prelu",      "xielu"};
    if (std::find(std::begin(keys), std::end(keys), key) == std::end(keys)) return text;
    const bool gated = key == "feed_forward_proj" && text.starts_with("gated-");
    if (std::find(std::begin(functions), std::end(functions), gated ? text.substr(6) : text) != std::end(functions))
        return text;
    const std::string sentence = fmt::format("{} {} is taken as gelu", key, one_line(text, 80));
    if (std::find(assumed.begin(), assumed.end(), sentence) == assumed.end()) assumed.push_back(sentence);
    return gated ? "gated-gelu" : "gelu";
}

}  // namespace

std::int64_t HfConfig::size(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (has(name)) return reader_.integer(name, 1, most_of(name)).value_or(1);
    fail(fmt::format("{} needs \"{}\"; add it, or name the model by its hub name", family, *names.begin()));
    return 1;
}

std::int64_t HfConfig::size_or(std::initializer_list<const char*> names, std::int64_t standard) {
    for (const char* name : names) {
        const Value* v = value(name);
        if (!v) continue;
        // How configs say that the code decides.
        if ((v->is_string() && v->as_string() == "auto") ||
            (v->is_integer() && v->as_integer() == -1 && may_be_open(name)))
            return standard;
        return reader_.integer(name, least_of(name), most_of(name)).value_or(standard);
    }
    const ClassDefault* its = default_of(names);
    if (!its || its->number == standard) return standard;
    if (its->key == std::string_view("num_key_value_heads") && standard % its->number != 0) return standard;
    // Of positions nothing is learned by these families; the sentence on seq_len says them.
    if (its->key != std::string_view("max_position_embeddings")) assume_default(its->key, std::to_string(its->number));
    return its->number;
}

const ClassDefault* HfConfig::default_of(std::initializer_list<const char*> names) const {
    for (const char* name : names)
        if (guessed || config_.find(name)) return nullptr;
    return find_class_default(family, names);
}

void HfConfig::assume_default(const char* key, const std::string& value) {
    const std::string sentence = fmt::format("{} {} (not stated; transformers' default for {})", key, value, family);
    if (std::find(assumed.begin(), assumed.end(), sentence) == assumed.end()) assumed.push_back(sentence);
}

std::int64_t HfConfig::labels(std::int64_t standard) {
    return options.classes > 0 ? options.classes : std::max<std::int64_t>(1, size_or({"num_labels"}, standard));
}

std::vector<std::int64_t> HfConfig::windows(std::int64_t layers) {
    const char* key = "attention_window";
    std::vector<std::int64_t> all;
    if (const Value* v = value(key); v && v->is_array())
        all = list(key).value_or(all);
    else
        all.assign(static_cast<std::size_t>(layers), std::max<std::int64_t>(1, size_or({key}, 512)));
    if (all.size() != static_cast<std::size_t>(layers)) {
        fail_at(key, fmt::format("attention_window has {} numbers; write one for each of {} layers, or one for all",
                                 all.size(), layers));
        all.resize(static_cast<std::size_t>(layers), 512);
    }
    for (std::int64_t& window : all) ++window;
    return all;
}

bool HfConfig::flag_or(const char* name, bool standard) {
    if (has(name)) return reader_.boolean(name).value_or(standard);
    const ClassDefault* its = default_of({name});
    if (!its || (its->number == 1) == standard) return standard;
    assume_default(name, standard ? "false" : "true");
    return !standard;
}
double HfConfig::number_or(const char* name, double standard) {
    return has(name) ? reader_.number(name, 0.0, 1e9).value_or(standard) : standard;
}

std::string HfConfig::text_or(std::initializer_list<const char*> names, const std::string& standard) {
    for (const char* name : names)
        if (has(name)) return known_function(name, to_lower(reader_.string(name).value_or(standard)), assumed);
    const ClassDefault* its = default_of(names);
    if (!its || !its->text || its->text == standard) return standard;
    assume_default(its->key, its->text);
    return its->text;
}

std::int64_t HfConfig::nested_or(const char* object, const char* name, std::int64_t standard) {
    const Value* inside = value(object);
    const Value* member = inside ? inside->find(name) : nullptr;
    if (!member) return standard;
    if (member->is_integer() && member->as_integer() >= 1 && member->as_integer() <= most_of(name))
        return member->as_integer();
    reader_.fail(object, fmt::format("{}: {} should be a whole number from 1 to {}", object, name, most_of(name)));
    return standard;
}

std::string HfConfig::nested_text_or(const char* object, const char* name, const std::string& standard) {
    const Value* inside = value(object);
    const Value* member = inside ? inside->find(name) : nullptr;
    return member && member->is_string() ? known_function(name, to_lower(member->as_string()), assumed) : standard;
}

ImageSides HfConfig::sides_or(const char* object, const char* name, std::int64_t standard) {
    const Value* inside = object ? value(object) : nullptr;
    const Value* sides = object ? (inside ? inside->find(name) : nullptr) : value(name);
    if (!sides) return {standard, standard};
    const auto side = [&](const Value& v) {
        return v.is_integer() && v.as_integer() >= 1 && v.as_integer() <= most_size ? v.as_integer() : 0;
    };
    const bool list = sides->is_array() && !sides->as_array().empty() && sides->as_array().size() <= 2;
    const std::int64_t height = side(list ? sides->as_array().front() : *sides),
                       width = side(list ? sides->as_array().back() : *sides);
    if (height > 0 && width > 0) return {height, width};
    reader_.fail(object ? object : name,
                 fmt::format("{} is {}; it should be a whole number from 1 to {}, or two of them in a list, the height "
                             "first",
                             name, write_json(*sides).substr(0, 80), most_size));
    return {standard, standard};
}

std::optional<std::vector<std::int64_t>> HfConfig::list(const char* name, std::int64_t least) {
    if (!has(name)) return std::nullopt;
    return reader_.integers(name, least, most_of(name));
}

std::optional<std::vector<std::string>> HfConfig::texts(const char* name) {
    if (!has(name)) return std::nullopt;
    return reader_.strings(name);
}

bool HfConfig::is_for(const std::string& suffix) {
    if (!has("architectures")) return false;
    const auto names = reader_.strings("architectures");
    return names &&
           std::any_of(names->begin(), names->end(), [&](const std::string& name) { return name.ends_with(suffix); });
}

std::string HfConfig::head_task() {
    if (!options.task.empty() && !options.task_by_data_set) return options.task;
    for (const auto& [suffix, task] :
         {std::pair<const char*, const char*>{"ForSequenceClassification", "classification"},
          {"ForTokenClassification", "token_classification"},
          {"ForQuestionAnswering", "question_answering"}})
        if (is_for(suffix)) return task;
    return "";
}

std::int64_t HfConfig::tokens(std::int64_t positions) {
    if (options.seq_len > 0) return options.seq_len;
    const std::int64_t standard = positions > 0 ? std::min<std::int64_t>(positions, 1024) : 1024;
    assumed.push_back(
        fmt::format("seq_len {} (not stated; the model allows {})", standard, positions > 0 ? positions : standard));
    return standard;
}

std::int64_t HfConfig::position_rows(std::int64_t positions, std::int64_t tokens_of_sample) {
    if (tokens_of_sample > positions)
        assumed.push_back(fmt::format("a position table of {} rows (the model has {}, shorter than the sequence)",
                                      tokens_of_sample, positions));
    return std::max(positions, tokens_of_sample);
}

bool HfConfig::fused(bool standard) {
    std::string chosen = text_or({"attn_implementation", "_attn_implementation"}, "");
    if (const Value* nested = value("attn_config"))
        if (const Value* kind = nested->find("attn_impl"); kind && kind->is_string())
            chosen = to_lower(kind->as_string());
    if (chosen == "eager" || chosen == "torch") return false;
    if (!chosen.empty()) return true;
    // Software that brings its own fused kernel, whatever the model.
    for (const char* software : {"composer", "nemo", "torchtitan", "flash", "sdpa"})
        if (options.framework.find(software) != std::string::npos) return true;
    return standard;
}

}  // namespace dlcast
