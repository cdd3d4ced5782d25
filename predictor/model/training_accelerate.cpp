// SPDX-License-Identifier: GPL-2.0-or-later
// Keys: accelerate's ClusterConfig and the plugins that it fills (DeepSpeedPlugin, MegatronLMPlugin).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "predictor/base/text.h"
#include "predictor/model/training_converter.h"
#include "predictor/model/training_fsdp.h"

namespace dlcast {
namespace {

// "fsdp", "deepspeed", "megatron", another name of accelerate's as "other", or "" where none is stated.
Result<std::string> distributed_by(const Value& in, TrainingConverter& c) {
    const Value* type = c.stated(in, "distributed_type");
    if (!type || (type->is_bool() && !type->as_bool())) return std::string();  // YAML's no
    const std::string name = type->is_string() ? to_lower(type->as_string()) : "";
    for (const char* kind : {"fsdp", "deepspeed", "megatron"})
        if (name.find(kind) != std::string::npos) return std::string(kind);
    constexpr std::array others = {"no", "tp", "tpu", "xla", "mps"};
    if (name.starts_with("multi_") || std::find(others.begin(), others.end(), name) != others.end())
        return std::string("other");
    return c.fault(*type, "distributed_type should be one of NO, MULTI_GPU, FSDP, DEEPSPEED, MEGATRON_LM").error();
}

Status read_deepspeed_config(const Value& in, bool by_deepspeed, TrainingConverter& c) {
    const Value none = Value::object();
    const Value* nested = c.stated(in, "deepspeed_config");
    if (!nested || !nested->is_object()) nested = &none;
    if (auto s = c.count(*nested, "gradient_accumulation_steps", "grad_accum"); !s) return s;
    const Value* file = c.stated(*nested, "deepspeed_config_file");
    if (file && file->is_object())
        if (auto s = read_deepspeed(*file, c); !s) return s;
    c.note_unread_file("deepspeed_config_file", file);
    c.note_offload("offload_optimizer", c.stated(*nested, "offload_optimizer_device"));
    c.note_offload("offload_param", c.stated(*nested, "offload_param_device"));
    if (auto s = c.set_zero(in, "deepspeed_config", "zero_stage"); !s) return s;
    const Value* parallel = c.written("parallel");
    const bool has_stage = c.states_own("parallel") || file || c.stated(in, "deepspeed") ||
                           c.stated(in, "zero_optimization") || (parallel && parallel->find("zero"));
    if (!by_deepspeed || has_stage) return ok();
    constexpr int standard_stage = 2;
    c.set_parallel("zero", standard_stage, *in.find("distributed_type"));
    c.assume("parallel.zero 2 (accelerate's stage where none is stated)");
    return ok();
}

Status read_megatron(const Value& in, TrainingConverter& c) {
    const char* const section = "megatron_lm_config";
    const Value* config = c.stated(in, section);
    if (!config) return ok();
    if (auto s = c.degree(in, section, "megatron_lm_tp_degree", "tp"); !s) return s;
    if (auto s = c.degree(in, section, "megatron_lm_pp_degree", "pp"); !s) return s;
    if (auto s = c.count(*config, "megatron_lm_num_micro_batches", "grad_accum"); !s) return s;
    const auto on = [&](const char* key) { return c.flag(c.stated(*config, key), fmt::format("{}.{}", section, key)); };
    const auto sequences = on("megatron_lm_sequence_parallelism");
    const auto recomputes = on("megatron_lm_recompute_activations");
    const auto shards = on("megatron_lm_use_distributed_optimizer");
    for (const auto* flag : {&sequences, &recomputes, &shards})
        if (!*flag) return flag->error();
    if (*sequences) c.set_parallel("sp", true, *config);
    if (*recomputes) c.set("activation_checkpointing", "selective", *config);
    if (*shards) c.set_parallel("zero", 1, *config);
    return ok();
}

}  // namespace

Status read_accelerate(const Value& in, TrainingConverter& c) {
    const auto by = distributed_by(in, c);
    if (!by) return by.error();
    if (const Value* precision = c.stated(in, "mixed_precision"); precision && precision->is_string()) {
        const std::string text = to_lower(precision->as_string());
        if (text == "fp16") c.set("precision", "amp", *precision);
        if (text == "bf16" || text == "fp8") c.set("precision", text, *precision);
    }
    if (auto s = read_fsdp(in, *by, c); !s) return s;
    if (const Value* processes = c.stated(in, "num_processes"); processes && processes->is_integer())
        c.assume(fmt::format("num_processes {} is left out: the job's GPUs count", processes->as_integer()));
    if (by->empty() || *by == "megatron")
        if (auto s = read_megatron(in, c); !s) return s;
    return read_deepspeed_config(in, *by == "deepspeed", c);
}

}  // namespace dlcast
