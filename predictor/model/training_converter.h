// SPDX-License-Identifier: GPL-2.0-or-later
// What the readers of other tools' trainings share: the training that they write, in dlcast's keys, and how values are
// checked under the names that their users wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/reader.h"
#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

class TrainingConverter {
public:
    static constexpr std::int64_t most_count = 1'000'000'000, most_degree = 1 << 20;

    /// `own` is the object that is read: what it states in dlcast's keys needs no assumption. All must outlive this.
    TrainingConverter(const std::string& source, const Value& own, Value& out)
        : source_(source), own_(own), out_(out) {}

    /// The member, unless it is null or "auto", which say nothing.
    static const Value* stated(const Value& in, const std::string& key);
    bool states_own(const char* key) const { return stated(own_, key) != nullptr; }
    /// Of the training as far as it is written.
    const Value* written(const char* key) const { return out_.find(key); }

    void set(const char* key, Value value, const Value& from);
    void set_parallel(const char* key, Value value, const Value& from);
    /// A sentence of `assumed`; it stands once.
    void assume(const std::string& sentence);
    /// Of a file that was not put in the place of its name (only a file's own references are followed).
    void note_unread_file(const char* key, const Value* name);
    void note_misspelt(const std::string& key, const std::string& name, const std::vector<std::string>& known);
    void note_offload(const char* what, const Value* device);

    Status fault(const Value& at, const std::string& text) const;
    template <typename Read>
    Status check(const Value& v, const std::string& name, Read read) const {
        Value named = Value::object();
        named.set(name, v);
        ObjectReader r(named, source_, "training");
        read(r);
        return r.finish();
    }
    Status check_whole(const Value& v, const std::string& name, std::int64_t min, std::int64_t max) const;
    /// True, 1 and "true"; false, 0, "false" and what is not stated.
    Result<bool> flag(const Value* v, const std::string& name) const;
    /// DeepSpeed's "bf16": {"enabled": true}, the Trainer's "bf16": true.
    static bool is_on(const Value& in, const char* key);
    Status check_switch(const Value& in, const char* key) const;

    /// A count, under dlcast's key.
    Status count(const Value& in, const char* from, const char* to);
    /// A degree above 1 in a section, under a key of `parallel`.
    Status degree(const Value& in, const char* section, const char* from, const char* to);
    Status set_zero(const Value& in, const char* section, const char* key);
    Status set_optimizer(const Value& name);

private:
    const std::string& source_;
    const Value& own_;
    Value& out_;
};

/// The keys of each tool that have to do with time. Errors: a value out of place.
Status read_deepspeed(const Value& in, TrainingConverter& c);
Status read_trainer(const Value& in, TrainingConverter& c);
Status read_accelerate(const Value& in, TrainingConverter& c);

}  // namespace dlcast
