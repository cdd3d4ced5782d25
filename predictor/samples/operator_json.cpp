// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/samples/operator_json.h"

#include <fmt/format.h>

#include <array>

#include "predictor/base/reader.h"

namespace dlcast {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 40;

struct SizeField {
    const char* key;
    std::int64_t Operator::*field;
};
constexpr std::array<SizeField, 17> size_fields{{{"batch", &Operator::batch},
                                                 {"m", &Operator::m},
                                                 {"k", &Operator::k},
                                                 {"n", &Operator::n},
                                                 {"in_ch", &Operator::in_ch},
                                                 {"out_ch", &Operator::out_ch},
                                                 {"in_h", &Operator::in_h},
                                                 {"in_w", &Operator::in_w},
                                                 {"out_h", &Operator::out_h},
                                                 {"out_w", &Operator::out_w},
                                                 {"kernel_h", &Operator::kernel_h},
                                                 {"kernel_w", &Operator::kernel_w},
                                                 {"stride", &Operator::stride},
                                                 {"groups", &Operator::groups},
                                                 {"rows", &Operator::rows},
                                                 {"cols", &Operator::cols},
                                                 {"vocab", &Operator::vocab}}};

std::vector<std::string> needed_sizes(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::conv2d:
            return {"in_ch", "out_ch", "in_h", "in_w", "out_h", "out_w", "kernel_h", "kernel_w"};
        case OperatorKind::linear:
        case OperatorKind::bmm:
        case OperatorKind::attention:
        case OperatorKind::recurrent:
            return {"m", "k", "n"};
        case OperatorKind::embedding:
            return {"rows", "cols", "vocab"};
        case OperatorKind::pooling:
            return {"rows", "cols", "in_ch", "in_h", "in_w", "kernel_h", "kernel_w"};
        default:
            return {"rows", "cols"};
    }
}

template <typename Enum>
std::vector<std::string> names_up_to(Enum last) {
    std::vector<std::string> out;
    for (int i = 0; i <= static_cast<int>(last); ++i) out.emplace_back(to_string(static_cast<Enum>(i)));
    return out;
}

}  // namespace

std::vector<std::string> operator_kind_names() { return names_up_to(OperatorKind::optimizer); }
std::vector<std::string> function_names() { return names_up_to(Function::other); }
std::vector<std::string> phase_names() { return names_up_to(Phase::train_step); }
std::vector<std::string> optimizer_names() { return names_up_to(Optimizer::lars); }
std::vector<std::string> precision_names() { return names_up_to(Precision::fp8); }

Value operator_value(const Operator& op) {
    const Operator usual;
    Value out = Value::object();
    out.set("kind", to_string(op.kind));
    out.set("phase", to_string(op.phase));
    out.set("precision", to_string(op.precision));
    if (op.function != usual.function) out.set("function", to_string(op.function));
    if (op.optimizer != usual.optimizer) out.set("optimizer", to_string(op.optimizer));
    for (const SizeField& size : size_fields)
        if (op.*size.field != usual.*size.field) out.set(size.key, op.*size.field);
    if (op.bias) out.set("bias", true);
    if (op.channels_last) out.set("channels_last", true);
    return out;
}

Result<Operator> read_operator(const Value& value, const std::string& source) {
    ObjectReader r(value, source, "operator");
    Operator op;
    const auto choose = [&r](const char* key, const std::vector<std::string>& names, auto& field) {
        if (const auto index = r.choice(key, names))
            field = static_cast<std::remove_reference_t<decltype(field)>>(*index);
    };
    r.require("kind", "add \"kind\": \"linear\"");
    r.require("phase", "add \"phase\": \"forward\"");
    r.require("precision", "add \"precision\": \"fp32\"");
    choose("kind", operator_kind_names(), op.kind);
    choose("phase", phase_names(), op.phase);
    choose("precision", precision_names(), op.precision);
    choose("function", function_names(), op.function);
    choose("optimizer", optimizer_names(), op.optimizer);
    for (const SizeField& size : size_fields)
        op.*size.field = r.integer(size.key, 1, largest_size).value_or(op.*size.field);
    op.bias = r.boolean("bias").value_or(false);
    op.channels_last = r.boolean("channels_last").value_or(false);
    for (const std::string& key : needed_sizes(op.kind))
        r.require(key, fmt::format("a {} has this size", to_string(op.kind)));
    if (op.kind == OperatorKind::optimizer && op.optimizer == Optimizer::none)
        r.fail("optimizer", "an update needs its optimizer; add \"optimizer\": \"adam\"");
    if (auto status = r.finish(); !status) return status.error();
    return op;
}

}  // namespace dlcast
