// SPDX-License-Identifier: GPL-2.0-or-later
// Keys: https://www.deepspeed.ai/docs/config-json.
#include <fmt/format.h>

#include <cmath>

#include "predictor/base/text.h"
#include "predictor/model/training_converter.h"

namespace dlcast {
namespace {

// DeepSpeed starts where micro-batch x micro-steps x data ranks make the batch of all GPUs.
Status check_global_batch(const Value& in, TrainingConverter& c) {
    const Value* all = c.stated(in, "train_batch_size");
    const Value* micro = c.stated(in, "train_micro_batch_size_per_gpu");
    // In the Trainer's section it has to be the batch of the Trainer's own arguments, which accumulate once unless
    // stated.
    const bool of_trainer = !micro && !c.written("batch_per");
    if (of_trainer) micro = c.written("batch_size");
    if (!all || !micro) return ok();
    if (auto s = c.check_whole(*all, "train_batch_size", 1, c.most_count); !s) return s;
    const Value* micro_steps = c.stated(in, "gradient_accumulation_steps");
    if (!micro_steps) micro_steps = c.written("grad_accum");  // the Trainer's, around DeepSpeed's section
    if (!micro_steps) micro_steps = c.stated(in, "grad_accum");
    if (micro_steps && !micro_steps->is_integer()) return ok();  // refused where it is read
    const double rank = micro->as_number() * (micro_steps ? micro_steps->as_number() : 1.0);
    const double ranks = all->as_number() / rank;
    if (ranks < 1.0 || ranks != std::floor(ranks))
        return c.fault(*all,
                       fmt::format("train_batch_size is {}; it should be a multiple of the {} samples a data "
                                   "rank ({} x gradient_accumulation_steps)",
                                   all->as_number(), rank,
                                   of_trainer ? "per_device_train_batch_size" : "train_micro_batch_size_per_gpu"));
    if (micro_steps || of_trainer) {
        c.assume(fmt::format("train_batch_size {} is that of {} data ranks; DeepSpeed starts on no others",
                             all->as_number(), ranks));
        return ok();
    }
    c.set("batch_size", *all, *all);
    c.set("batch_per", "global", *all);
    c.set("micro_batch", *micro, *micro);
    return ok();
}

// Sections of a device each; before those, two switches.
Status note_offloads(const Value& in, TrainingConverter& c) {
    const Value* zero = c.stated(in, "zero_optimization");
    if (!zero) return ok();
    const Value cpu = "cpu";
    for (const auto& [key, old] :
         {std::pair{"offload_optimizer", "cpu_offload"}, {"offload_param", "cpu_offload_params"}}) {
        if (const Value* section = c.stated(*zero, key)) c.note_offload(key, c.stated(*section, "device"));
        const auto on = c.flag(c.stated(*zero, old), fmt::format("zero_optimization.{}", old));
        if (!on) return on.error();
        if (*on) c.note_offload(key, &cpu);
    }
    return ok();
}

Status read_degrees(const Value& in, TrainingConverter& c) {
    if (auto s = c.set_zero(in, "zero_optimization", "stage"); !s) return s;
    for (const char* key : {"tp_size", "autotp_size"})
        if (auto s = c.degree(in, "tensor_parallel", key, "tp"); !s) return s;
    const Value* pipeline = c.stated(in, "pipeline");
    const Value* stages = pipeline ? c.stated(*pipeline, "stages") : nullptr;
    if (stages && stages->is_integer() && stages->as_integer() > 1)
        c.assume(fmt::format("pipeline.stages {} is left out: the program cuts its model; state parallel.pp",
                             stages->as_integer()));
    return ok();
}

Status read_precision(const Value& in, TrainingConverter& c) {
    for (const char* key : {"fp16", "bf16", "amp"})
        if (auto s = c.check_switch(in, key); !s) return s;
    if (c.is_on(in, "fp16") && c.is_on(in, "bf16"))
        return c.fault(*in.find("bf16"), "fp16 and bf16 are both on; switch one of them off");
    for (const char* key : {"fp16", "bf16", "amp"})
        if (c.is_on(in, key)) c.set("precision", key, *in.find(key));
    return ok();
}

}  // namespace

Status read_deepspeed(const Value& in, TrainingConverter& c) {
    if (auto s = c.count(in, "train_micro_batch_size_per_gpu", "batch_size"); !s) return s;
    if (const Value* all = c.stated(in, "train_batch_size"); all && !c.written("batch_size")) {
        if (auto s = c.count(in, "train_batch_size", "batch_size"); !s) return s;
        c.set("batch_per", "global", *all);
    }
    if (auto s = c.count(in, "gradient_accumulation_steps", "grad_accum"); !s) return s;
    if (auto s = read_degrees(in, c); !s) return s;
    if (auto s = check_global_batch(in, c); !s) return s;
    if (auto s = note_offloads(in, c); !s) return s;
    if (const Value* own = in.find("activation_checkpointing");
        own && own->is_object() && !c.written("activation_checkpointing"))
        c.assume(
            "activation_checkpointing none unless stated (DeepSpeed's section of this name configures what the "
            "program calls; where it calls it, state \"full\")");
    if (auto s = read_precision(in, c); !s) return s;
    if (const Value* optimizer = in.find("optimizer"); optimizer && optimizer->is_object())
        if (const Value* type = c.stated(*optimizer, "type")) return c.set_optimizer(*type);
    return ok();
}

}  // namespace dlcast
