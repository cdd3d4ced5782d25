// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/training_converter.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

// Of a switch, or of an object with one.
const Value* switch_of(const Value& in, const char* key) {
    const Value* v = TrainingConverter::stated(in, key);
    return v && v->is_object() ? TrainingConverter::stated(*v, "enabled") : v;
}

// What of an optimizer its counterpart has not.
std::string left_out_of(const std::string& optimizer, const char* counterpart) {
    const auto has = [&](const char* part) { return optimizer.find(part) != std::string::npos; };
    const std::string name = one_line(optimizer, 40);
    if (has("galore") || has("apollo") || has("mini"))
        return fmt::format("{} counts as {}: that its states are smaller, and what that costs, is left out", name,
                           counterpart);
    if (has("onebit") || has("zeroone"))
        return fmt::format("{} counts as {}: compressing what GPUs exchange is left out", name, counterpart);
    if (has("8bit") || has("4bit")) return fmt::format("optimizer states of {} count in 32 bits", name);
    return "";
}

}  // namespace

const Value* TrainingConverter::stated(const Value& in, const std::string& key) {
    const Value* v = in.find(key);
    const bool silent = !v || v->is_null() || (v->is_string() && to_lower(v->as_string()) == "auto");
    return silent ? nullptr : v;
}

void TrainingConverter::set(const char* key, Value value, const Value& from) {
    value.at = from.at;
    out_.set(key, std::move(value));
}

void TrainingConverter::set_parallel(const char* key, Value value, const Value& from) {
    Value* parallel = out_.find("parallel");
    if (!parallel) parallel = &out_.set("parallel", Value::object());
    parallel->at = from.at;
    parallel->set(key, std::move(value)).at = from.at;
}

void TrainingConverter::assume(const std::string& sentence) {
    Value* sentences = out_.find("assumed");
    if (!sentences) sentences = &out_.set("assumed", Value::array());
    const auto& all = sentences->as_array();
    if (std::none_of(all.begin(), all.end(), [&](const Value& known) { return known.as_string() == sentence; }))
        sentences->push(sentence);
}

void TrainingConverter::note_unread_file(const char* key, const Value* name) {
    if (name && name->is_string())
        assume(fmt::format("{} {} is not read here; write its object in the place of its name", key,
                           one_line(name->as_string(), 60)));
}

void TrainingConverter::note_misspelt(const std::string& key, const std::string& name,
                                      const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), key) != known.end()) return;
    const std::string near = nearest_name(key, known);
    if (!near.empty() && edit_distance(to_lower(key), near) <= 2)
        assume(fmt::format("key \"{}\" is not read; did you mean \"{}\"?", one_line(name, 60), near));
}

void TrainingConverter::note_offload(const char* what, const Value* device) {
    if (!device || !device->is_string() || to_lower(device->as_string()) == "none") return;
    assume(fmt::format("{} to {} is left out: what it moves counts in GPU memory, and moving it takes no time", what,
                       one_line(device->as_string(), 20)));
}

Status TrainingConverter::fault(const Value& at, const std::string& text) const {
    return invalid_argument(at_place(source_, at.at, text));
}

Status TrainingConverter::check_whole(const Value& v, const std::string& name, std::int64_t min,
                                      std::int64_t max) const {
    return check(v, name, [&](ObjectReader& r) { r.integer(name, min, max); });
}

Result<bool> TrainingConverter::flag(const Value* v, const std::string& name) const {
    if (!v) return false;
    if (v->is_integer() && (v->as_integer() == 0 || v->as_integer() == 1)) return v->as_integer() == 1;
    const std::string text = v->is_string() ? to_lower(v->as_string()) : "";
    if (text == "true" || text == "false") return text == "true";
    if (auto s = check(*v, name, [&](ObjectReader& r) { r.boolean(name); }); !s) return s.error();
    return v->as_bool();
}

bool TrainingConverter::is_on(const Value& in, const char* key) {
    const Value* v = switch_of(in, key);
    return v && ((v->is_bool() && v->as_bool()) || (v->is_integer() && v->as_integer() == 1));
}

Status TrainingConverter::check_switch(const Value& in, const char* key) const {
    const Value* v = switch_of(in, key);
    if (!v) return ok();
    const std::string name = v == in.find(key) ? key : fmt::format("{}.enabled", key);
    return check(*v, name, [&](ObjectReader& r) { r.boolean(name); });
}

Status TrainingConverter::count(const Value& in, const char* from, const char* to) {
    const Value* v = stated(in, from);
    if (!v) return ok();
    if (auto s = check_whole(*v, from, 1, most_count); !s) return s;
    set(to, *v, *v);
    return ok();
}

Status TrainingConverter::degree(const Value& in, const char* section, const char* from, const char* to) {
    const Value* inside = stated(in, section);
    const Value* v = inside ? stated(*inside, from) : nullptr;
    if (!v) return ok();
    if (auto s = check_whole(*v, fmt::format("{}.{}", section, from), 0, most_degree); !s) return s;
    if (v->as_integer() > 1) set_parallel(to, *v, *v);
    return ok();
}

Status TrainingConverter::set_zero(const Value& in, const char* section, const char* key) {
    const Value* inside = stated(in, section);
    const Value* stage = inside ? stated(*inside, key) : nullptr;
    if (!stage) return ok();
    if (auto s = check_whole(*stage, fmt::format("{}.{}", section, key), 0, 3); !s) return s;
    set_parallel("zero", *stage, *stage);
    return ok();
}

Status TrainingConverter::set_optimizer(const Value& name) {
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
            if (const std::string sentence = left_out_of(text, known); !sentence.empty()) assume(sentence);
            return ok();
        }
    return fault(name,
                 fmt::format("optimizer \"{}\" has no counterpart; name one under \"optimizer\" of dlcast's training",
                             one_line(name.as_string(), 80)));
}

}  // namespace dlcast
