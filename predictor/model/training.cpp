// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/training.h"

#include <fmt/format.h>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/model/written.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_count = 1'000'000'000'000;
constexpr double least_checkpoint_minutes = 0.01;

const std::vector<std::string>& precision_names() {
    static const std::vector<std::string> names = {"fp32", "tf32", "amp", "fp16", "bf16", "fp8"};
    return names;
}

const std::vector<std::string>& optimizer_names() {
    static const std::vector<std::string> names = {"none", "sgd",   "momentum",  "adagrad", "adadelta", "rmsprop",
                                                   "adam", "adamw", "adafactor", "lamb",    "lars"};
    return names;
}

Result<Parallel> read_parallel(const Value& value, const std::string& source) {
    ObjectReader r(value, source, "parallel");
    Parallel p;
    p.place = at_place(source, value.at, "parallel");
    const auto degree = [&](const char* key, int standard, int min) {
        return static_cast<int>(r.integer(key, min, 1 << 20).value_or(standard));
    };
    p.dp = degree("dp", 0, 1);
    p.tp = degree("tp", 1, 1);
    p.pp = degree("pp", 1, 1);
    p.vp = degree("vp", 1, 1);
    p.cp = degree("cp", 1, 1);
    p.ep = degree("ep", 1, 1);
    p.sp = r.boolean("sp").value_or(false);
    p.no_sync = r.boolean("no_sync").value_or(true);
    p.tp_over_nodes = r.boolean("tp_over_nodes").value_or(false);
    p.zero = static_cast<int>(r.integer("zero", 0, 3).value_or(0));
    static const std::vector<std::string> fsdp = {"full", "grad_op", "hybrid"};
    if (const auto kind = r.choice("fsdp", fsdp)) p.fsdp = fsdp[*kind];
    if (p.zero > 0 && !p.fsdp.empty()) r.fail("fsdp", "zero and fsdp exclude each other; keep one");
    if (p.vp > 1 && p.pp == 1) r.fail("vp", "virtual pipeline stages need \"pp\" above 1");
    if (auto s = r.finish(); !s) return s.error();
    return p;
}

Result<std::vector<MeasuredStep>> read_measured(const Value& value, const std::string& source) {
    std::vector<MeasuredStep> out;
    const auto one = [&](const Value& entry) -> Status {
        ObjectReader r(entry, source, "measured");
        MeasuredStep m;
        r.require("gpu", "add the GPU it was measured on");
        r.require("step_ms", "add the time of one step in milliseconds");
        m.gpu = r.string("gpu").value_or("");
        m.gpus = static_cast<int>(r.integer("gpus", 1, 1 << 24).value_or(1));
        m.batch_size = r.integer("batch_size", 1, most_count).value_or(0);
        m.step_ms = r.number("step_ms", 1e-6, 1e12).value_or(0.0);
        m.place = at_place(source, entry.find("gpu") ? entry.find("gpu")->at : entry.at, "measured");
        if (const auto name = r.string("precision")) {
            m.precision = precision_from(*name);
            if (!m.precision)
                r.fail("precision", fmt::format("precision is \"{}\"; it should be one of {}", *name,
                                                fmt::join(precision_names(), ", ")));
        }
        if (auto s = r.finish(); !s) return s;
        out.push_back(std::move(m));
        return ok();
    };
    if (!value.is_array()) {
        if (auto s = one(value); !s) return s.error();
        return out;
    }
    if (value.as_array().size() > 1000)
        return invalid_argument(
            at_place(source, value.at, "measured: more than 1000 entries; the first 8 count, leave the others out"));
    for (const Value& entry : value.as_array())
        if (auto s = one(entry); !s) return s.error();
    return out;
}

// "epoch", or a number of steps, kept as text.
std::string read_eval_every(ObjectReader& r) {
    const Value* v = r.value("eval_every");
    if (!v) return "";
    if (v->is_string() && to_lower(v->as_string()) == "epoch") return "epoch";
    if (v->is_integer() && v->as_integer() > 0) return fmt::format("{}", v->as_integer());
    r.fail("eval_every", "eval_every should be \"epoch\" or a number of steps");
    return "";
}

void read_duration(ObjectReader& r, Training& t) {
    t.epochs = r.number("epochs", 1e-6, 1e9);
    t.steps = r.integer("steps", 1, most_count);
    t.tokens = r.number("tokens", 1.0, 1e18);
    std::vector<std::string> stated;
    if (t.epochs) stated.push_back(fmt::format("epochs {:g}", *t.epochs));
    if (t.steps) stated.push_back(fmt::format("steps {}", *t.steps));
    if (t.tokens) stated.push_back(fmt::format("tokens {:g}", *t.tokens));
    if (stated.size() > 1)
        r.fail(t.epochs ? "epochs" : "steps",
               fmt::format("{} are stated; at most one of epochs, steps and tokens may be stated: take the others out",
                           fmt::join(stated, " and ")));
}

}  // namespace

const std::vector<std::string>& task_names() {
    static const std::vector<std::string> names = {"pretraining",    "causal_lm",          "masked_lm",
                                                   "classification", "question_answering", "features"};
    return names;
}

std::optional<Precision> precision_from(std::string_view name) {
    std::string wanted = to_lower(name);
    if (wanted == "float32" || wanted == "single") wanted = "fp32";
    if (wanted == "mixed") wanted = "amp";
    if (wanted == "float16" || wanted == "half") wanted = "fp16";
    if (wanted == "bfloat16") wanted = "bf16";
    for (std::size_t i = 0; i < precision_names().size(); ++i)
        if (precision_names()[i] == wanted) return static_cast<Precision>(i);
    return std::nullopt;
}

std::optional<Optimizer> optimizer_from(std::string_view name) {
    std::string wanted = to_lower(name);
    // transformers' --optim
    if (wanted == "adamw_torch" || wanted == "adamw_torch_fused" || wanted == "adamw_hf") wanted = "adamw";
    if (wanted == "nag" || wanted == "sgd_momentum") wanted = "momentum";
    for (std::size_t i = 0; i < optimizer_names().size(); ++i)
        if (optimizer_names()[i] == wanted) return static_cast<Optimizer>(i);
    return std::nullopt;
}

Result<TrainingRead> read_training(const Value* value, const std::string& source) {
    static const Value nothing = Value::object();
    ObjectReader r(value ? *value : nothing, source, "training");
    TrainingRead out;
    Training& t = out.training;
    const auto batch = r.integer("batch_size", 1, 1'000'000'000);
    static const std::vector<std::string> per = {"gpu", "global"};
    const bool global = r.choice("batch_per", per).value_or(0) == 1;
    if (global && !batch) r.fail("batch_per", "a global batch needs \"batch_size\"");
    out.batch_stated = batch.has_value();
    (global ? t.global_batch : t.batch_size) = batch.value_or(32);
    const auto grad_accum = r.integer("grad_accum", 1, 1 << 24);
    t.grad_accum = grad_accum.value_or(1);
    t.micro_batch = r.integer("micro_batch", 1, 1'000'000'000).value_or(0);
    if (t.micro_batch > 0 && !global)
        r.fail("micro_batch",
               "micro_batch divides a global batch; add \"batch_per\": \"global\", or write \"batch_size\"");
    if (t.micro_batch > 0 && grad_accum)
        r.fail("grad_accum",
               "grad_accum follows from batch_size and micro_batch; keep one of grad_accum and micro_batch");
    read_duration(r, t);
    if (const auto name = r.string("precision")) {
        const auto precision = precision_from(*name);
        out.precision_stated = true;
        if (precision)
            t.precision = *precision;
        else
            r.fail("precision", fmt::format("precision is \"{}\"; it should be one of {}", *name,
                                            fmt::join(precision_names(), ", ")));
    }
    if (const auto name = r.string("optimizer")) {
        const auto optimizer = optimizer_from(*name);
        out.optimizer_stated = true;
        if (optimizer)
            t.optimizer = *optimizer;
        else
            r.fail("optimizer", fmt::format("optimizer is \"{}\"; it should be one of {}", *name,
                                            fmt::join(optimizer_names(), ", ")));
    }
    if (const Value* parallel = r.value("parallel")) {
        auto read = read_parallel(*parallel, source);
        if (!read) return read.error();
        t.parallel = *read;
    }
    for (const char* key : {"dp", "tp", "pp", "vp", "cp", "ep", "sp", "no_sync", "tp_over_nodes", "zero", "fsdp"})
        if (r.has(key)) r.fail(key, fmt::format("unknown \"{}\"; did you mean \"parallel.{}\"?", key, key));
    if (const Value* measured = r.value("measured")) {
        auto read = read_measured(*measured, source);
        if (!read) return read.error();
        t.measured = *read;
    }
    static const std::vector<std::string> checkpointing = {"none", "selective", "full"};
    t.activation_checkpointing = checkpointing[r.choice("activation_checkpointing", checkpointing).value_or(0)];
    t.framework = to_lower(r.string("framework").value_or("pytorch"));
    t.compile = r.boolean("compile").value_or(false);
    static const std::vector<std::string> layouts = {"nchw", "nhwc"};
    const auto layout = r.choice("layout", layouts);
    out.layout_stated = layout.has_value();
    t.channels_last = layout.value_or(0) == 1;
    t.eval_every = read_eval_every(r);
    t.checkpoint_minutes = r.number("checkpoint_minutes", 0.0, 1e9).value_or(0.0);
    if (t.checkpoint_minutes > 0 && t.checkpoint_minutes < least_checkpoint_minutes)
        r.fail("checkpoint_minutes", fmt::format("checkpoint_minutes is {:g}; it should be 0 (none) or at least {:g}",
                                                 t.checkpoint_minutes, least_checkpoint_minutes));
    out.seq_len = r.integer("seq_len", 1, most_seq_len).value_or(0);
    out.image_size = r.integer("image_size", 1, most_image_size).value_or(0);
    out.trainable = r.string("trainable").value_or("all");
    if (const Value* trainable = value ? value->find("trainable") : nullptr) out.trainable_at = trainable->at;
    if (const auto task = r.choice("task", task_names())) out.task = task_names()[*task];
    read_assumed(r, out.assumed);
    if (auto s = r.finish(); !s) return s.error();
    return out;
}

}  // namespace dlcast
