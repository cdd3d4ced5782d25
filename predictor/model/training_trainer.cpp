// SPDX-License-Identifier: GPL-2.0-or-later
// Keys: transformers' TrainingArguments, and those that trl's SFTConfig adds.
#include <fmt/format.h>

#include <cmath>

#include "predictor/base/text.h"
#include "predictor/model/training_converter.h"

namespace dlcast {
namespace {

Status set_duration(const Value& in, TrainingConverter& c) {
    const Value* steps = c.stated(in, "max_steps");
    const Value* epochs = c.stated(in, "num_train_epochs");
    if (steps && steps->is_integer() && steps->as_integer() > 0) {
        c.set("steps", *steps, *steps);
    } else if (epochs) {
        const auto read = [](ObjectReader& r) { r.number("num_train_epochs", 1e-6, 1e9); };
        if (auto s = c.check(*epochs, "num_train_epochs", read); !s) return s;
        c.set("epochs", *epochs, *epochs);
    }
    return ok();
}

Status set_switches(const Value& in, TrainingConverter& c) {
    // The Trainer's fp16 is autocast, with weights in fp32.
    for (const auto& [key, precision] : {std::pair{"tf32", "tf32"}, {"fp16", "amp"}, {"bf16", "bf16"}})
        if (const Value* on = in.find(key); on && !on->is_object()) {
            if (auto s = c.check_switch(in, key); !s) return s;
            if (c.is_on(in, key)) c.set("precision", precision, *on);
        }
    const auto checkpointing = c.flag(c.stated(in, "gradient_checkpointing"), "gradient_checkpointing");
    if (!checkpointing) return checkpointing.error();
    if (*checkpointing) c.set("activation_checkpointing", "full", *in.find("gradient_checkpointing"));
    const Value* compiled = c.stated(in, "torch_compile");
    const auto compile = c.flag(compiled, "torch_compile");
    if (!compile) return compile.error();
    if (compiled) c.set("compile", *compile, *compiled);
    return ok();
}

// Below 1 the Trainer means a share of all its steps, rounded up.
Status set_evaluation_share(const Value& share, TrainingConverter& c) {
    const Value* steps = c.written("steps");
    if (!steps)
        return c.fault(share, fmt::format("eval_steps {:g} is a share of steps that are not stated; add \"max_steps\", "
                                          "or write a number of steps",
                                          share.as_number()));
    c.set("eval_every", static_cast<std::int64_t>(std::ceil(share.as_number() * steps->as_number())), share);
    return ok();
}

Status set_evaluation(const Value& in, TrainingConverter& c) {
    const Value* strategy = c.stated(in, "eval_strategy");
    if (!strategy) strategy = c.stated(in, "evaluation_strategy");
    if (!strategy || !strategy->is_string()) return ok();
    if (strategy->as_string() == "epoch") c.set("eval_every", "epoch", *strategy);
    const Value* every = strategy->as_string() == "steps" ? c.stated(in, "eval_steps") : nullptr;
    if (!every) return ok();
    if (every->is_number() && every->as_number() > 0.0 && every->as_number() < 1.0)
        return set_evaluation_share(*every, c);
    if (auto s = c.check_whole(*every, "eval_steps", 1, c.most_count); !s) return s;
    c.set("eval_every", *every, *every);
    return ok();
}

// Checkpoints go by minutes here, by steps or epochs there.
void note_checkpoints(const Value& in, TrainingConverter& c) {
    const Value* strategy = c.stated(in, "save_strategy");
    const Value* steps = c.stated(in, "save_steps");
    const std::string kind = strategy && strategy->is_string() ? to_lower(strategy->as_string()) : "";
    const bool never = kind == "no" || (strategy && strategy->is_bool() && !strategy->as_bool());
    if (never || c.states_own("checkpoint_minutes")) return;
    std::string told;
    if (!kind.empty() && (kind != "steps" || !steps))
        told = fmt::format("save_strategy {}", one_line(kind, 20));
    else if (steps && steps->is_number())
        told = fmt::format("save_steps {}", steps->as_number());
    if (!told.empty())
        c.assume(fmt::format("{} is left out: state checkpoint_minutes for the time of checkpoints", told));
}

Status set_sequences(const Value& in, TrainingConverter& c) {
    for (const char* key : {"max_seq_length", "max_length"})
        if (auto s = c.count(in, key, "seq_len"); !s) return s;
    const auto packing = c.flag(c.stated(in, "packing"), "packing");
    if (!packing) return packing.error();
    if (*packing) c.assume("packing is left out: each sample of the data set counts as one sequence");
    return ok();
}

// What changes memory or time and is not read, each with the value that says nothing.
void note_unread(const Value& in, TrainingConverter& c) {
    constexpr const char* keys[] = {"tp_size",
                                    "parallelism_config",
                                    "sequence_parallel_size",
                                    "use_liger_kernel",
                                    "auto_find_batch_size",
                                    "global_batch_size",
                                    "micro_batch_size",
                                    "train_iters",
                                    "tensor_model_parallel_size",
                                    "pipeline_model_parallel_size"};
    for (const char* key : keys) {
        const Value* v = c.stated(in, key);
        if (!v || (v->is_bool() && !v->as_bool()) || (v->is_integer() && v->as_integer() <= 1)) continue;
        c.assume(fmt::format("{} is left out; dlcast's own keys say as much (docs/model-json.md)", key));
    }
}

// A run of the Trainer has a batch of 8 a GPU where nobody states one.
void assume_batch(const Value& in, TrainingConverter& c) {
    constexpr std::int64_t standard = 8;
    const Value* started = c.stated(in, "num_train_epochs");
    if (!started) started = c.stated(in, "max_steps");
    if (!started || c.written("batch_size") || c.states_own("batch_size")) return;
    if (in.find("per_device_train_batch_size") || in.find("deepspeed")) return;  // "auto": others decide
    c.set("batch_size", standard, *started);
    c.assume(fmt::format("per_device_train_batch_size {} (not stated; the Trainer's default)", standard));
}

}  // namespace

Status read_trainer(const Value& in, TrainingConverter& c) {
    for (const char* key : {"per_gpu_train_batch_size", "per_device_train_batch_size"})
        if (auto s = c.count(in, key, "batch_size"); !s) return s;
    for (const auto read : {set_duration, set_switches, set_evaluation, set_sequences})
        if (auto s = read(in, c); !s) return s;
    note_checkpoints(in, c);
    note_unread(in, c);
    assume_batch(in, c);
    if (const Value* nested = in.find("deepspeed"); nested && nested->is_object())
        if (auto s = read_deepspeed(*nested, c); !s) return s;
    c.note_unread_file("deepspeed", c.stated(in, "deepspeed"));
    const Value* optimizer = c.stated(in, "optim");
    return optimizer ? c.set_optimizer(*optimizer) : ok();
}

}  // namespace dlcast
