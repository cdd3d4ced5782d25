// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "predictor/base/json.h"
#include "predictor/base/text.h"
#include "predictor/model/hf_defaults.h"
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

// Every key any family reads.
constexpr std::array hf_keys = {
    "model_type", "name", "architectures", "attn_implementation", "_attn_implementation", "attn_config",
    "tie_word_embeddings",
    // sizes of language models
    "vocab_size", "hidden_size", "d_model", "n_embd", "n_embed", "dim", "num_hidden_layers", "n_layer", "n_layers",
    "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers", "num_attention_heads", "n_head", "n_heads",
    "num_heads", "encoder_attention_heads", "decoder_attention_heads", "num_key_value_heads", "head_dim", "d_head",
    "d_kv", "intermediate_size", "n_inner", "d_inner", "ffn_dim", "d_ff", "hidden_dim", "encoder_ffn_dim",
    "decoder_ffn_dim", "expansion_ratio", "max_position_embeddings", "n_positions", "max_seq_len", "type_vocab_size",
    "embedding_size", "word_embed_proj_dim",
    // switches
    "hidden_act", "activation_function", "activation", "hidden_activation", "feed_forward_proj", "attention_bias",
    "mlp_bias", "no_bias", "bias", "use_bias", "multi_query", "new_decoder_architecture", "num_kv_heads",
    "parallel_attn", "rotary_dim", "do_layer_norm_before", "share_encoder_decoder_embeddings", "is_encoder_decoder",
    "static_position_embeddings", "lm_head_bias", "use_parallel_residual", "use_qk_norm", "qk_layernorm",
    "use_qkv_bias", "add_qkv_bias", "add_bias_linear", "multi_query_attention", "norm_bias", "position_biased_input",
    "share_att_key", "do_stable_layer_norm", "conv_bias", "feat_proj_layer_norm", "position_embedding_type",
    "attention_type", "feat_extract_norm", "ff_activation", "use_relative_position_bias",
    "use_absolute_position_embeddings", "use_mean_pooling", "use_swiglu_ffn", "layer_scale_init_value", "layer_type",
    // more sizes of language models
    "model_max_length", "seq_length", "padded_vocab_size", "ffn_hidden_size", "kv_channels", "multi_query_group_num",
    "dff", "attention_heads", "input_embedding_size", "src_vocab_size", "tgt_vocab_size",
    "max_encoder_position_embeddings", "max_source_positions", "max_target_positions", "num_mel_bins", "max_length",
    "frequency_stride", "position_buckets", "max_2d_position_embeddings", "attention_window", "block_size",
    "local_attention", "global_attn_every_n_layers", "conv_kernel_size", "q_lora_rank", "kv_lora_rank",
    "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "expand", "state_size", "conv_kernel", "time_step_rank",
    "conv_dim", "conv_stride", "num_conv_pos_embeddings", "num_conv_pos_embedding_groups",
    // nested parts
    "ffn_config", "text_config", "vision_config", "attn_impl", "kv_n_heads", "moe_num_experts", "moe_top_k", "moe_k",
    "rms_norm_eps", "rope_theta", "is_decoder", "output_embedding_size", "use_task_id", "task_type_vocab_size",
    "relative_attention_num_buckets", "emb_layer_norm_before", "max_relative_positions", "norm_rel_ebd",
    "relative_attention", "pos_att_type", "attention_out_bias", "num_ln_in_parallel_attn", "layer_types",
    "sliding_window", "use_sliding_window", "max_window_layers", "sliding_window_pattern", "_sliding_window_pattern",
    "encoder_attention_type", "max_decoder_position_embeddings", "decoder_vocab_size", "num_adapter_layers",
    "adapter_kernel_size", "adapter_stride", "output_hidden_size", "classifier_proj_size", "classifier_bias",
    "decoder_bias", "local_radius", "global_block_size", "normalize_before", "normalize_embedding", "rmsnorm", "qk_ln",
    "attn_type", "learned_pos_emb", "use_weighted_layer_sum", "use_auxiliary_head",
    // mixtures of experts
    "num_local_experts", "num_experts_per_tok", "n_routed_experts", "n_shared_experts", "moe_num_shared_experts",
    "moe_intermediate_size", "shared_expert_intermediate_size", "shared_intermediate_size", "first_k_dense_replace",
    "decoder_sparse_step", "encoder_sparse_step", "num_experts", "num_sparse_encoder_layers",
    "num_sparse_decoder_layers", "intermediate_size_mlp", "interleave_moe_layer_step", "moe_layers",
    // Transformer-XL
    "d_embed", "cutoffs", "div_val", "mem_len", "clamp_len",
    // vision and detection
    "use_mask_token", "use_shared_relative_position_bias", "embedding_sizes", "time_stride", "num_buckets",
    "image_size", "patch_size", "num_channels", "num_labels", "embed_dim", "depths", "hidden_sizes", "window_size",
    "mlp_ratio", "num_register_tokens", "projection_dim", "backbone", "feature_maps", "feature_channels",
    "boxes_per_cell", "fpn_channels", "fpn_levels", "head_convs", "anchors", "num_classes", "discriminator",
    "generator",
    // diffusion
    "_class_name", "sample_size", "in_channels", "out_channels", "block_out_channels", "layers_per_block",
    "cross_attention_dim", "attention_head_dim", "transformer_layers_per_block", "down_block_types", "up_block_types",
    "mid_block_type", "addition_embed_type", "projection_class_embeddings_input_dim",
    // what was left out
    "assumed"};

// Keys that change a network, each with the value that is computed with by the families that do not read it.
struct LeftOut {
    const char *key, *computed_with;
};
constexpr LeftOut left_out[] = {{"mlp_only_layers", "[]"},
                                {"num_hidden_groups", "1"},
                                {"inner_group_num", "1"},
                                {"add_cross_attention", "false"},
                                {"tie_encoder_decoder", "false"},
                                {"qkv_bias", "true"},
                                {"enable_bias", "true"},
                                {"layer_norm_elementwise_affine", "true"},
                                {"attention_bias", "false"},
                                {"mlp_bias", "false"},
                                {"moe_layer_freq", "1"},
                                {"add_adapter", "false"},
                                {"use_absolute_embeddings", "false"},
                                {"use_conv_bias", "true"},
                                {"use_qk_norm", "false"},
                                {"qk_layernorm", "false"},
                                {"alibi", "false"},
                                {"talking_head", "false"},
                                {"use_prompt", "false"},
                                {"router_bias", "false"},
                                {"untie_r", "true"},
                                {"tie_weight", "true"},
                                {"index_topk", "none"},
                                {"adapter_attn_dim", "none"},
                                {"conv_pos_batch_norm", "false"},
                                {"downsample_in_first_stage", "false"},
                                {"downsample_in_bottleneck", "false"},
                                {"num_nextn_predict_layers", "0"},
                                {"pre_seq_len", "none"},
                                {"patch_norm", "true"},
                                {"only_cross_attention", "false"},
                                {"dual_cross_attention", "false"},
                                {"num_class_embeds", "none"},
                                {"class_embed_type", "none"},
                                {"encoder_hid_dim", "none"},
                                {"conv_in_kernel", "3"},
                                {"conv_out_kernel", "3"},
                                {"time_embedding_dim", "none"},
                                {"resnet_time_scale_shift", "\"default\""},
                                {"reverse_transformer_layers_per_block", "none"},
                                {"quantization_config", "none"}};

// Of these null is an answer, not silence: as many as heads, no latent, no block in the middle.
bool says_none(std::string_view key) {
    return key == "num_key_value_heads" || key == "q_lora_rank" || key == "mid_block_type";
}

const HfFamily* find_family(const std::string& type);
std::string canonical_type(const std::string& type);

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

namespace {

std::vector<HfFamily> all_families() {
    std::vector<HfFamily> all;
    for (const auto* families : {&encoder_families(), &decoder_families(), &encoder_decoder_families(),
                                 &vision_families(), &audio_families(), &diffusion_families()})
        all.insert(all.end(), families->begin(), families->end());
    return all;
}

const HfFamily* find_family(const std::string& type) {
    static const std::vector<HfFamily> all = all_families();
    for (const HfFamily& family : all)
        if (family.model_type == type) return &family;
    for (const HfFamily& family : all)
        if (to_lower(family.model_type) == to_lower(type)) return &family;
    return nullptr;
}

// Families that go by another's blocks, and models of several parts whose text part stands at the top of the config.
std::string canonical_type(const std::string& type) {
    static const std::pair<const char*, const char*> same[] = {
        {"qwen2_vl", "qwen2"}, {"qwen2_5_vl", "qwen2"},         {"code_llama", "llama"},
        {"nllb", "m2m_100"},   {"deepseek_v32", "deepseek_v3"}, {"kimi_k2", "deepseek_v3"},
    };
    for (const auto& [name, other] : same)
        if (to_lower(type) == name) return other;
    return type;
}

}  // namespace

std::vector<std::string> hf_model_types() {
    std::vector<std::string> names;
    for (const HfFamily& family : all_families()) names.emplace_back(family.model_type);
    return names;
}

namespace {

std::string letters_of(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c >= 'a' && c <= 'z') out += c;
    return out;
}

// A known name with a letter or two amiss. Other figures make a new generation, not a misspelling.
bool is_misspelt(const std::string& type) {
    constexpr std::string_view families_of_their_own[] = {"ibert", "xlm", "bark", "bamba", "jamba", "zamba", "vits"};
    const std::string wanted = to_lower(type);
    for (const std::string_view own : families_of_their_own)
        if (wanted == own) return false;
    const std::string near = nearest_name(wanted, hf_model_types());
    if (near.empty()) return wanted.empty();
    const auto digits = [](const std::string& text) {
        std::string out;
        for (const char c : text)
            if (c >= '0' && c <= '9') out += c;
        return out;
    };
    if (letters_of(wanted) == letters_of(near) && digits(wanted) != digits(near)) return false;
    return edit_distance(wanted, to_lower(near)) <= (wanted.size() < 8 ? 1U : 2U);
}

bool is_decoder(const HfFamily& family) {
    for (const HfFamily& one : decoder_families())
        if (family.model_type == std::string_view(one.model_type)) return true;
    return false;
}

// A family nobody told us of, whose sizes have the usual names: it is read as the nearest common design, and said so.
Result<const HfFamily*> guess_family(const Value& config, const std::string& type, const std::string& source,
                                     std::vector<std::string>& assumed) {
    if (const Value::Member* other = other_layers(config))
        return invalid_argument(
            at_place(source, other->value.at,
                     fmt::format("model_type {} has layers other than attention ({}), which are not read; dump the "
                                 "module with contrib/torch_export.py, or write the layers",
                                 one_line(type, longest_shown), one_line(other->key, longest_shown))));
    const char* like = nearest_design(config);
    if (!like) return nullptr;
    assumed.push_back(fmt::format("model_type {} (unknown) is read as {}", one_line(type, longest_shown), like));
    if (std::string_view(like) != "bert" && !config.find("tie_word_embeddings"))
        assumed.emplace_back("tie_word_embeddings false (not stated; the family's own default is unknown)");
    return find_family(like);
}

// Models that see and read: the language model is most of the work.
Value text_part(const Value& config, const Value& text, const std::string& type) {
    Value part = text;
    if (!text.find("model_type")) part.set("model_type", type);
    for (const char* key : {"tie_word_embeddings", "quantization_config", "attn_implementation"})
        if (const Value* of_all = config.find(key); of_all && !part.find(key)) part.set(key, *of_all);
    return part;
}

Result<ModelSpec> build_config(const Value& config, const std::string& source, const std::string& name,
                               const BuildOptions& options, std::vector<std::string>& assumed, bool guessed) {
    const Value* type = config.find("model_type");
    if (!type || !type->is_string())
        return invalid_argument(at_place(source, config.at, "config: needs \"model_type\", the family of the model"));
    const HfFamily* family = find_family(canonical_type(type->as_string()));
    if (config.find("vision_config") && (!family || is_decoder(*family)))
        assumed.push_back(
            fmt::format("the text part of {} alone (its vision part is left out)", one_line(type->as_string(), 80)));
    const Value* text = config.find("text_config");
    const bool sizes_inside = text && text->is_object() && !config.find("hidden_size");
    if (text && text->is_object() && (!family || (sizes_inside && is_decoder(*family)))) {
        const std::string its = to_lower(type->as_string()) == "gemma3" ? "gemma3_text"
                                : family                                ? family->model_type
                                                                        : "llama";
        Value part = text_part(config, *text, its);
        if (const std::string filled = fill_standard_sizes(part); !filled.empty()) assumed.push_back(filled);
        return build_config(part, source, name, options, assumed,
                            !family && !text->find("model_type") && its == "llama");
    }
    if (!family && (other_layers(config) || !is_misspelt(type->as_string()))) {
        const auto guess = guess_family(config, type->as_string(), source, assumed);
        if (!guess) return guess.error();
        family = *guess;
        guessed = true;
    }
    if (!family) {
        const std::string near = nearest_name(type->as_string(), hf_model_types());
        return invalid_argument(at_place(source, type->at,
                                         fmt::format("unknown model_type \"{}\"; {}known: {}", type->as_string(),
                                                     near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near),
                                                     fmt::join(hf_model_types(), ", "))));
    }
    HfConfig reader(config, source, options, assumed);
    reader.family = family->model_type;
    reader.guessed = guessed;
    auto built = family->build(reader, name);
    reader.name_what_is_left_out();
    if (auto s = reader.finish(); !s) return s.error();
    if (!built)
        return invalid_argument(
            at_place(source, config.at, fmt::format("{}: {}", family->model_type, built.error().message)));
    return built;
}

}  // namespace

Result<ModelSpec> build_hf_model(const Value& config, const std::string& source, const std::string& name,
                                 const BuildOptions& options, std::vector<std::string>& assumed) {
    return build_config(config, source, name, options, assumed, false);
}

}  // namespace dlcast
