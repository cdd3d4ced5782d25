// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/complete.h"

#include <cmath>
#include <utility>

#include "predictor/model/training.h"

namespace dlcast {
namespace {

// The members of `written`, then those of `defaults` that it lacks.
Value filled(const Value* written, const Value& defaults) {
    Value out = written && written->is_object() ? *written : Value::object();
    for (const Value::Member& member : defaults.as_object())
        if (!out.find(member.key)) out.set(member.key, member.value);
    return out;
}

// A count is written as a whole number where 64 bits hold it.
Value counted(double value) {
    constexpr double most_exact = 9007199254740992.0;  // 2^53
    return value <= most_exact && value == std::floor(value) ? Value(static_cast<std::int64_t>(value)) : Value(value);
}

Value complete_dataset(const Value& written, const Dataset& d) {
    Value known = Value::object();
    const auto count = [&](const char* key, std::int64_t value) {
        if (value > 0) known.set(key, value);
    };
    if (!d.name.empty()) known.set("name", d.name);
    count("samples", d.samples);
    count("validation_samples", d.validation_samples);
    count("classes", d.classes);
    count("seq_len", d.seq_len);
    count("image_size", d.image_size);
    count("masked_tokens", d.masked_tokens);
    if (d.bytes > 0.0) known.set("bytes", counted(d.bytes));
    if (d.tokens > 0.0) known.set("tokens", counted(d.tokens));
    return filled(&written, known);
}

Value complete_training(const Value* written, const Workload& w) {
    const Training& t = w.training;
    Value taken = Value::object();
    taken.set("batch_size", t.global_batch > 0 ? t.global_batch : t.batch_size);
    taken.set("batch_per", t.global_batch > 0 ? "global" : "gpu");
    if (t.micro_batch == 0) taken.set("grad_accum", t.grad_accum);
    taken.set("precision", to_string(t.precision));
    taken.set("optimizer", to_string(t.optimizer));
    taken.set("activation_checkpointing", t.activation_checkpointing);
    taken.set("trainable", "all");
    taken.set("framework", t.framework);
    taken.set("compile", t.compile);
    if (w.model.image_size > 0) {
        taken.set("layout", t.channels_last ? "nhwc" : "nchw");
        if (w.model.image_size <= most_image_size) taken.set("image_size", w.model.image_size);
    }
    if (w.model.seq_len > 0 && w.model.seq_len <= most_seq_len) taken.set("seq_len", w.model.seq_len);
    return filled(written, taken);
}

}  // namespace

Value complete(const Declaration& declaration, const Workload& workload) {
    Value out = Value::object();
    const Value& in = declaration.value;
    if (const Value* model = in.find("model")) out.set("model", *model);
    if (const Value* dataset = in.find("dataset")) out.set("dataset", complete_dataset(*dataset, workload.dataset));
    out.set("training", complete_training(in.find("training"), workload));
    return out;
}

}  // namespace dlcast
