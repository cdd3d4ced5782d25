// SPDX-License-Identifier: GPL-2.0-or-later
// Keys: https://www.deepspeed.ai/docs/config-json, transformers' TrainingArguments, accelerate's ClusterConfig.
#include "predictor/model/training_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_count = 1'000'000'000;

constexpr std::array foreign_keys = {"train_micro_batch_size_per_gpu",
                                     "train_batch_size",
                                     "gradient_accumulation_steps",
                                     "zero_optimization",
                                     "per_device_train_batch_size",
                                     "per_gpu_train_batch_size",
                                     "num_train_epochs",
                                     "max_steps",
                                     "mixed_precision",
                                     "distributed_type",
                                     "deepspeed",
                                     "deepspeed_config",
                                     "fsdp_config"};

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

class Converter {
public:
    Converter(const std::string& source, Value& out) : source_(source), out_(out) {}

    Status convert(const Value& in) {
        if (auto s = deepspeed(in); !s) return s;
        if (auto s = trainer(in); !s) return s;
        return accelerate(in);
    }
    // A sentence of `assumed`.
    void assume(std::string sentence) {
        Value* sentences = out_.find("assumed");
        if (!sentences) sentences = &out_.set("assumed", Value::array());
        sentences->push(std::move(sentence));
    }

private:
    Status fault(const Value& at, const std::string& text) const {
        return invalid_argument(at_place(source_, at.at, text));
    }

    // "auto" and null say nothing.
    static const Value* stated(const Value& in, const char* key) {
        const Value* v = in.find(key);
        const bool silent = !v || v->is_null() || (v->is_string() && to_lower(v->as_string()) == "auto");
        return silent ? nullptr : v;
    }
    void set(const char* key, Value value, const Value& from) {
        value.at = from.at;
        out_.set(key, std::move(value));
    }
    void copy(const Value& in, const char* from, const char* to) {
        if (const Value* v = stated(in, from)) set(to, *v, *v);
    }
    // Faults name the key as its user wrote it.
    template <typename Read>
    Status check(const Value& v, const std::string& name, Read read) const {
        Value named = Value::object();
        named.set(name, v);
        ObjectReader r(named, source_, "training");
        read(r);
        return r.finish();
    }
    // A count, under dlcast's key.
    Status count(const Value& in, const char* from, const char* to) {
        const Value* v = stated(in, from);
        if (!v) return ok();
        if (auto s = check_whole(*v, from, 1, most_count); !s) return s;
        set(to, *v, *v);
        return ok();
    }
    Status check_whole(const Value& v, const std::string& name, std::int64_t min, std::int64_t max) const {
        return check(v, name, [&](ObjectReader& r) { r.integer(name, min, max); });
    }
    // Of a switch, or of an object with one: DeepSpeed's "bf16": {"enabled": true}, the Trainer's "bf16": true.
    static const Value* switch_of(const Value& in, const char* key) {
        const Value* v = stated(in, key);
        return v && v->is_object() ? stated(*v, "enabled") : v;
    }
    static bool is_on(const Value& in, const char* key) {
        const Value* v = switch_of(in, key);
        return v && ((v->is_bool() && v->as_bool()) || (v->is_integer() && v->as_integer() == 1));
    }
    Status check_switch(const Value& in, const char* key) const {
        const Value* v = switch_of(in, key);
        if (!v) return ok();
        const std::string name = v == in.find(key) ? key : fmt::format("{}.enabled", key);
        return check(*v, name, [&](ObjectReader& r) { r.boolean(name); });
    }
    void set_parallel(const char* key, Value value, const Value& from) {
        Value* parallel = out_.find("parallel");
        if (!parallel) parallel = &out_.set("parallel", Value::object());
        parallel->at = from.at;
        parallel->set(key, std::move(value)).at = from.at;
    }

    Status set_zero(const Value& in, const char* section, const char* key) {
        const Value* inside = stated(in, section);
        const Value* stage = inside ? stated(*inside, key) : nullptr;
        if (!stage) return ok();
        if (auto s = check_whole(*stage, fmt::format("{}.{}", section, key), 0, 3); !s) return s;
        set_parallel("zero", *stage, *stage);
        return ok();
    }

    Status set_optimizer(const Value& name) {
        if (!name.is_string()) return fault(name, "the optimizer's name should be a string");
        const std::string text = to_lower(name.as_string());
        for (const auto& [part, known] : {std::pair{"adafactor", "adafactor"},
                                          {"adagrad", "adagrad"},
                                          {"adamw", "adamw"},
                                          {"adam", "adam"},
                                          {"lamb", "lamb"},
                                          {"lars", "lars"},
                                          {"rmsprop", "rmsprop"},
                                          {"sgd", "momentum"}})
            if (text.find(part) != std::string::npos) {
                set("optimizer", known, name);
                if (text.find("8bit") != std::string::npos || text.find("4bit") != std::string::npos)
                    assume(fmt::format("optimizer states of {} count in 32 bits", one_line(text, 40)));
                return ok();
            }
        return fault(
            name, fmt::format("optimizer \"{}\" has no counterpart; name one under \"optimizer\" of dlcast's training",
                              name.as_string().substr(0, 80)));
    }

    Status deepspeed(const Value& in) {
        if (auto s = count(in, "train_micro_batch_size_per_gpu", "batch_size"); !s) return s;
        if (const Value* all = stated(in, "train_batch_size"); all && !out_.find("batch_size")) {
            if (auto s = count(in, "train_batch_size", "batch_size"); !s) return s;
            set("batch_per", "global", *all);
        }
        if (auto s = count(in, "gradient_accumulation_steps", "grad_accum"); !s) return s;
        if (auto s = set_zero(in, "zero_optimization", "stage"); !s) return s;
        if (auto s = check_global_batch(in); !s) return s;
        note_offload(in);
        if (const Value* own = in.find("activation_checkpointing");
            own && own->is_object() && !out_.find("activation_checkpointing"))
            assume(
                "activation_checkpointing none unless stated (DeepSpeed's section of this name configures what the "
                "program calls; where it calls it, state \"full\")");
        for (const char* key : {"fp16", "bf16", "amp"})
            if (auto s = check_switch(in, key); !s) return s;
        if (is_on(in, "fp16") && is_on(in, "bf16"))
            return fault(*in.find("bf16"), "fp16 and bf16 are both on; switch one of them off");
        for (const char* key : {"fp16", "bf16", "amp"})
            if (is_on(in, key)) set("precision", key, *in.find(key));
        if (const Value* optimizer = in.find("optimizer"); optimizer && optimizer->is_object())
            if (const Value* type = stated(*optimizer, "type")) return set_optimizer(*type);
        return ok();
    }

    // DeepSpeed starts where micro-batch x micro-steps x data ranks make the batch of all GPUs.
    Status check_global_batch(const Value& in) {
        const Value* all = stated(in, "train_batch_size");
        const Value* micro = stated(in, "train_micro_batch_size_per_gpu");
        if (!all || !micro) return ok();
        if (auto s = check_whole(*all, "train_batch_size", 1, most_count); !s) return s;
        const Value* micro_steps = stated(in, "gradient_accumulation_steps");
        if (!micro_steps) micro_steps = out_.find("grad_accum");  // the Trainer's, around DeepSpeed's section
        if (!micro_steps) micro_steps = stated(in, "grad_accum");
        if (micro_steps && !micro_steps->is_integer()) return ok();  // refused where it is read
        const double rank = micro->as_number() * (micro_steps ? micro_steps->as_number() : 1.0);
        const double ranks = all->as_number() / rank;
        if (ranks < 1.0 || ranks != std::floor(ranks))
            return fault(*all, fmt::format("train_batch_size is {}; it should be a multiple of the {} samples a data "
                                           "rank (train_micro_batch_size_per_gpu x gradient_accumulation_steps)",
                                           all->as_number(), rank));
        if (micro_steps) {
            assume(fmt::format("train_batch_size {} is that of {} data ranks; DeepSpeed starts on no others",
                               all->as_number(), ranks));
            return ok();
        }
        set("batch_size", *all, *all);
        set("batch_per", "global", *all);
        set("micro_batch", *micro, *micro);
        return ok();
    }

    void note_offload(const Value& in) {
        const Value* zero = stated(in, "zero_optimization");
        for (const char* key : {"offload_optimizer", "offload_param"}) {
            const Value* section = zero ? stated(*zero, key) : nullptr;
            if (section) note_offload_to(key, stated(*section, "device"));
        }
    }
    void note_offload_to(const char* key, const Value* device) {
        if (!device || !device->is_string() || to_lower(device->as_string()) == "none") return;
        assume(fmt::format("{} to {} is left out: what it moves counts in GPU memory, and moving it takes no time", key,
                           one_line(device->as_string(), 20)));
    }

    Status trainer(const Value& in) {
        for (const char* key : {"per_gpu_train_batch_size", "per_device_train_batch_size"})
            if (auto s = count(in, key, "batch_size"); !s) return s;
        const Value* steps = stated(in, "max_steps");
        const Value* epochs = stated(in, "num_train_epochs");
        if (steps && steps->is_integer() && steps->as_integer() > 0) {
            set("steps", *steps, *steps);
        } else if (epochs) {
            const auto read = [](ObjectReader& r) { r.number("num_train_epochs", 1e-6, 1e9); };
            if (auto s = check(*epochs, "num_train_epochs", read); !s) return s;
            set("epochs", *epochs, *epochs);
        }
        // The Trainer's fp16 is autocast, with weights in fp32.
        for (const auto& [key, precision] : {std::pair{"tf32", "tf32"}, {"fp16", "amp"}, {"bf16", "bf16"}})
            if (const Value* on = in.find(key); on && !on->is_object()) {
                if (auto s = check_switch(in, key); !s) return s;
                if (is_on(in, key)) set("precision", precision, *on);
            }
        if (const Value* on = in.find("gradient_checkpointing"); on && on->is_bool() && on->as_bool())
            set("activation_checkpointing", "full", *on);
        copy(in, "torch_compile", "compile");
        if (auto s = set_evaluation(in); !s) return s;
        if (const Value* fsdp = stated(in, "fsdp"); fsdp && fsdp->is_string()) {
            set_fsdp(*fsdp);
            if (to_lower(fsdp->as_string()).find("offload") != std::string::npos) note_offload_to("fsdp", &cpu_);
        }
        if (const Value* nested = in.find("deepspeed"); nested && nested->is_object())
            if (auto s = deepspeed(*nested); !s) return s;
        const Value* optimizer = stated(in, "optim");
        return optimizer ? set_optimizer(*optimizer) : ok();
    }

    Status set_evaluation(const Value& in) {
        const Value* strategy = stated(in, "eval_strategy");
        if (!strategy) strategy = stated(in, "evaluation_strategy");
        if (!strategy || !strategy->is_string()) return ok();
        if (strategy->as_string() == "epoch") set("eval_every", "epoch", *strategy);
        const Value* every = strategy->as_string() == "steps" ? stated(in, "eval_steps") : nullptr;
        if (!every) return ok();
        if (every->is_number() && every->as_number() > 0.0 && every->as_number() < 1.0)
            return set_evaluation_share(*every);
        if (auto s = check_whole(*every, "eval_steps", 1, most_count); !s) return s;
        set("eval_every", *every, *every);
        return ok();
    }

    // Below 1 the Trainer means a share of all its steps, rounded up.
    Status set_evaluation_share(const Value& share) {
        const Value* steps = out_.find("steps");
        if (!steps)
            return fault(share,
                         fmt::format("eval_steps {:g} is a share of steps that are not stated; add \"max_steps\", "
                                     "or write a number of steps",
                                     share.as_number()));
        set("eval_every", static_cast<std::int64_t>(std::ceil(share.as_number() * steps->as_number())), share);
        return ok();
    }

    void set_fsdp(const Value& text) {
        const std::string kinds = to_lower(text.as_string());
        for (const auto& [part, kind] :
             {std::pair{"hybrid", "hybrid"}, {"shard_grad_op", "grad_op"}, {"full_shard", "full"}})
            if (kinds.find(part) != std::string::npos) return set_parallel("fsdp", kind, text);
    }

    Status accelerate(const Value& in) {
        if (const Value* precision = stated(in, "mixed_precision"); precision && precision->is_string()) {
            const std::string text = to_lower(precision->as_string());
            if (text == "fp16") set("precision", "amp", *precision);
            if (text == "bf16" || text == "fp8") set("precision", text, *precision);
        }
        if (const Value* fsdp = in.find("fsdp_config"); fsdp && fsdp->is_object()) accelerate_fsdp(*fsdp);
        if (const Value* processes = stated(in, "num_processes"); processes && processes->is_integer())
            assume(fmt::format("num_processes {} is left out: the job's GPUs count", processes->as_integer()));
        const Value* nested = in.find("deepspeed_config");
        if (!nested || !nested->is_object()) return ok();
        if (auto s = count(*nested, "gradient_accumulation_steps", "grad_accum"); !s) return s;
        if (const Value* file = nested->find("deepspeed_config_file"); file && file->is_object())
            if (auto s = deepspeed(*file); !s) return s;
        note_offload_to("offload_optimizer", stated(*nested, "offload_optimizer_device"));
        note_offload_to("offload_param", stated(*nested, "offload_param_device"));
        return set_zero(in, "deepspeed_config", "zero_stage");
    }

    void accelerate_fsdp(const Value& fsdp) {
        if (const Value* kind = stated(fsdp, "fsdp_sharding_strategy"); kind && kind->is_string()) set_fsdp(*kind);
        if (is_on(fsdp, "fsdp_offload_params")) note_offload_to("fsdp", &cpu_);
    }

    const std::string& source_;
    Value& out_;
    const Value cpu_ = "cpu";
};

// Tools have far more keys than have to do with time; one that is nearly a known key is likely misspelt.
std::string likely_meant(const std::string& key) {
    std::vector<std::string> known(foreign_keys.begin(), foreign_keys.end());
    known.insert(known.end(), own_keys.begin(), own_keys.end());
    if (std::find(known.begin(), known.end(), key) != known.end()) return "";
    const std::string near = nearest_name(key, known);
    return !near.empty() && edit_distance(to_lower(key), near) <= 2 ? near : "";
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
    Converter converter(source, out);
    if (auto s = converter.convert(training); !s) return s.error();
    for (const Value::Member& member : training.as_object()) {
        if (const std::string meant = likely_meant(member.key); !meant.empty())
            converter.assume(
                fmt::format("key \"{}\" is not read; did you mean \"{}\"?", one_line(member.key, 40), meant));
        const bool own = std::find(own_keys.begin(), own_keys.end(), member.key) != own_keys.end() ||
                         (member.key == "optimizer" && member.value.is_string());
        const bool of_deepspeed = member.key == "activation_checkpointing" && member.value.is_object();
        if (own && !of_deepspeed && !member.value.is_null()) out.set(member.key, member.value);
    }
    return out;
}

}  // namespace dlcast
