// SPDX-License-Identifier: GPL-2.0-or-later
// Keys: accelerate's FullyShardedDataParallelPlugin, transformers' TrainingArguments.
#include "predictor/model/training_fsdp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

// The Trainer's "fsdp".
struct Option {
    const Value* place = nullptr;
    bool is_on = false, offloads = false;
    std::string kind;  // "": not stated
};

// A member of "fsdp_config" and its name in messages.
struct Named {
    const Value* value = nullptr;
    std::string name;
};

Named member_of(const Value* section, const char* key) {
    for (const char* before : {"fsdp_", ""})
        if (const Value* v = section ? TrainingConverter::stated(*section, fmt::format("{}{}", before, key)) : nullptr)
            return {v, fmt::format("fsdp_config.{}{}", before, key)};
    return {};
}

// dlcast's kind by the name or the number of PyTorch's ShardingStrategy; "none": no sharding, "": no such strategy.
std::string kind_of(const Value& strategy) {
    constexpr std::array numbered = {"full", "grad_op", "none", "hybrid", "hybrid"};
    std::string text = strategy.is_string() ? to_lower(strategy.as_string()) : "";
    if (strategy.is_integer()) text = fmt::format("{}", strategy.as_integer());
    if (text.size() == 1 && text[0] >= '1' && text[0] <= '5') return numbered[static_cast<std::size_t>(text[0] - '1')];
    for (const auto& [part, kind] : {std::pair{"hybrid_shard", "hybrid"},
                                     {"shard_grad_op", "grad_op"},
                                     {"full_shard", "full"},
                                     {"no_shard", "none"}})
        if (text.find(part) != std::string::npos) return kind;
    return "";
}

Status no_such_strategy(const Named& strategy, TrainingConverter& c) {
    return c.fault(*strategy.value,
                   fmt::format("{} should be one of FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD, "
                               "HYBRID_SHARD_ZERO2",
                               strategy.name));
}

// Words of a text, as in "full_shard auto_wrap".
Status read_words(const Value& text, Option& option, TrainingConverter& c) {
    if (!text.is_string()) return c.fault(text, "fsdp should be a text, or a list of texts, as [\"full_shard\"]");
    std::string words = to_lower(text.as_string());
    std::replace_if(
        words.begin(), words.end(), [](char x) { return x == ',' || x == ';'; }, ' ');
    for (const std::string& word : split(words, ' ')) {
        if (word.empty()) continue;
        option.is_on = true;
        Value strategy = word;
        if (word == "offload")
            option.offloads = true;
        else if (!kind_of(strategy).empty() && word.size() > 1)
            option.kind = kind_of(strategy);
        else if (word != "auto_wrap")
            return c.fault(text, fmt::format("fsdp has the word \"{}\"; its words are full_shard, shard_grad_op, "
                                             "hybrid_shard, hybrid_shard_zero2, no_shard, offload, auto_wrap",
                                             one_line(word, 40)));
    }
    return ok();
}

Result<Option> read_option(const Value& in, TrainingConverter& c) {
    Option option;
    option.place = in.find("fsdp");
    const Value* v = c.stated(in, "fsdp");
    if (!v) return option;
    const std::string text = v->is_string() ? to_lower(v->as_string()) : "";
    if (v->is_array()) {
        for (const Value& word : v->as_array())
            if (auto s = read_words(word, option, c); !s) return s.error();
    } else if (v->is_string() && text != "true" && text != "false") {
        if (auto s = read_words(*v, option, c); !s) return s.error();
    } else {
        const auto on = c.flag(v, "fsdp");
        if (!on) return on.error();
        option.is_on = *on;
    }
    return option;
}

// The Trainer shards where "fsdp" says so, accelerate by its type; a section alone is meant where it says how.
bool is_sharded(const Option& option, const std::string& distributed_by, const Value* section) {
    if (option.is_on || distributed_by == "fsdp") return true;
    if (option.place || !distributed_by.empty() || !section) return false;
    const auto& members = section->as_object();
    return std::any_of(members.begin(), members.end(), [](const Value::Member& m) {
        return m.key.starts_with("fsdp_") || m.key == "sharding_strategy" || m.key == "reshard_after_forward";
    });
}

// A switch, or a strategy's name: what is gathered stays through the backward pass, or is gathered again there.
Result<std::string> kind_of_reshard(const Named& reshard, TrainingConverter& c) {
    if (reshard.value->is_string() && !kind_of(*reshard.value).empty() && reshard.value->as_string().size() > 1)
        return kind_of(*reshard.value);
    const auto on = c.flag(reshard.value, reshard.name);
    if (!on) return on.error();
    return std::string(*on ? "full" : "grad_op");
}

Status set_kind(const Option& option, const Value* section, const Value& place, TrainingConverter& c) {
    const Named strategy = member_of(section, "sharding_strategy"),
                reshard = member_of(section, "reshard_after_forward");
    const Named version = member_of(section, "version");
    if (version.value)
        if (auto s = c.check_whole(*version.value, version.name, 1, 2); !s) return s;
    const bool second = version.value && version.value->as_integer() == 2;
    std::string kind = option.kind;
    const Value* from = &place;
    if (strategy.value) {
        kind = kind_of(*strategy.value);
        if (kind.empty()) return no_such_strategy(strategy, c);
        from = strategy.value;
    }
    if (reshard.value && (second || kind.empty())) {
        const auto read = kind_of_reshard(reshard, c);
        if (!read) return read.error();
        kind = *read;
        from = reshard.value;
    }
    if (kind.empty()) {
        kind = "full";
        if (!c.states_own("parallel")) c.assume("parallel.fsdp full (no sharding strategy is stated)");
    }
    if (kind != "none") c.set_parallel("fsdp", kind, *from);
    return ok();
}

void note_misspelt_keys(const Value* section, TrainingConverter& c) {
    if (!section) return;
    constexpr std::string_view before = "fsdp_";
    for (const Value::Member& m : section->as_object())
        c.note_misspelt(m.key.starts_with(before) ? m.key.substr(before.size()) : m.key, "fsdp_config." + m.key,
                        {"version", "sharding_strategy", "reshard_after_forward", "activation_checkpointing",
                         "offload_params", "cpu_offload"});
}

}  // namespace

Status read_fsdp(const Value& in, const std::string& distributed_by, TrainingConverter& c) {
    const Value* section = c.stated(in, "fsdp_config");
    if (section && !section->is_object())
        return c.fault(*section, "fsdp_config should be an object; write the keys of its file here");
    const auto option = read_option(in, c);
    if (!option) return option.error();
    if (!is_sharded(*option, distributed_by, section)) return ok();
    const Value* place = option->is_on ? option->place : section ? section : in.find("distributed_type");
    if (auto s = set_kind(*option, section, *place, c); !s) return s;
    note_misspelt_keys(section, c);
    const Named checkpointing = member_of(section, "activation_checkpointing");
    const auto recomputes = c.flag(checkpointing.value, checkpointing.name);
    if (!recomputes) return recomputes.error();
    if (*recomputes) c.set("activation_checkpointing", "full", *checkpointing.value);
    bool offloads = option->offloads;
    for (const char* key : {"offload_params", "cpu_offload"}) {
        const Named offload = member_of(section, key);
        const auto on = c.flag(offload.value, offload.name);
        if (!on) return on.error();
        offloads = offloads || *on;
    }
    const Value cpu = "cpu";
    if (offloads) c.note_offload("fsdp", &cpu);
    return ok();
}

}  // namespace dlcast
