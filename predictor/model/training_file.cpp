// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/training_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "predictor/model/training_converter.h"

namespace dlcast {
namespace {

// Keys of other tools; dlcast has none of them.
constexpr std::array foreign_keys = {
    "train_micro_batch_size_per_gpu", "train_batch_size", "gradient_accumulation_steps", "zero_optimization",
    "per_device_train_batch_size", "per_gpu_train_batch_size", "num_train_epochs", "max_steps", "mixed_precision",
    "distributed_type", "deepspeed", "deepspeed_config", "fsdp", "fsdp_config", "megatron_lm_config", "tensor_parallel",
    "gradient_checkpointing", "optim", "torch_compile", "max_length", "max_seq_length", "packing", "num_processes",
    "eval_strategy", "evaluation_strategy", "eval_steps", "save_strategy", "save_steps",
    // Without effect on time, and common.
    "learning_rate", "weight_decay", "warmup_steps", "warmup_ratio", "lr_scheduler_type", "adam_beta1", "adam_beta2",
    "adam_epsilon", "max_grad_norm", "gradient_clipping", "per_device_eval_batch_size", "logging_steps", "logging_dir",
    "output_dir", "report_to", "run_name", "save_total_limit", "steps_per_print", "seed", "data_seed"};

constexpr std::array own_keys = {"batch_size", "batch_per",
                                 "grad_accum", "micro_batch",
                                 "epochs",     "steps",
                                 "tokens",     "parallel",
                                 "trainable",  "framework",
                                 "compile",    "layout",
                                 "seq_len",    "image_size",
                                 "task",       "eval_every",
                                 "measured",   "checkpoint_minutes",
                                 "precision",  "activation_checkpointing"};

// Tools have far more keys than have to do with time; one that is nearly one of these is likely misspelt.
std::vector<std::string> known_keys() {
    std::vector<std::string> known(foreign_keys.begin(), foreign_keys.end());
    known.insert(known.end(), own_keys.begin(), own_keys.end());
    known.emplace_back("optimizer");
    return known;
}

}  // namespace

bool is_foreign_training(const Value& training) {
    // Precisions as DeepSpeed and the Trainer switch them on; dlcast has no such keys.
    return training.is_object() && (training.find("fp16") || training.find("bf16") ||
                                    std::any_of(foreign_keys.begin(), foreign_keys.end(),
                                                [&](const char* key) { return training.find(key) != nullptr; }));
}

Result<Value> to_dlcast_training(const Value& training, const std::string& source) {
    Value out = Value::object();
    out.at = training.at;
    TrainingConverter converter(source, training, out);
    for (const auto read : {read_deepspeed, read_trainer, read_accelerate})
        if (auto s = read(training, converter); !s) return s.error();
    const std::vector<std::string> known = known_keys();
    for (const Value::Member& member : training.as_object()) {
        converter.note_misspelt(member.key, member.key, known);
        const bool own = std::find(own_keys.begin(), own_keys.end(), member.key) != own_keys.end() ||
                         (member.key == "optimizer" && member.value.is_string());
        const bool of_deepspeed = member.key == "activation_checkpointing" && member.value.is_object();
        if (own && !of_deepspeed && !member.value.is_null()) out.set(member.key, member.value);
    }
    // A batch in dlcast's own words is one of a GPU unless they say otherwise, too.
    if (training.find("batch_size") && !training.find("batch_per"))
        std::erase_if(out.as_object(), [](const Value::Member& member) {
            return member.key == "batch_per" || member.key == "micro_batch";
        });
    return out;
}

}  // namespace dlcast
