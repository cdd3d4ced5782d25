// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/refined_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/base/reader.h"
#include "predictor/base/toml.h"

namespace dlcast {
namespace {

constexpr std::int64_t schema = 1;
constexpr double largest_offset = 20.0, largest_number = 1e6;

std::vector<std::string> family_names() { return {operator_family_names.begin(), operator_family_names.end()}; }

// A flat list of numbers, `width` a measured call.
std::vector<double> numbers(ObjectReader& r, std::string_view key, std::size_t width) {
    std::vector<double> out;
    const Value* value = r.value(key);
    if (value == nullptr) return out;
    if (!value->is_array()) {
        r.fail(key, "must be a list of numbers");
        return out;
    }
    for (const Value& entry : value->as_array()) {
        if (!entry.is_number() || !(std::abs(entry.as_number()) <= largest_number)) {
            r.fail(key, "must hold numbers up to 1e6 alone");
            return {};
        }
        out.push_back(entry.as_number());
    }
    if (out.size() % width != 0 || out.size() / width > GroupResidual::max_rows) {
        r.fail(key, fmt::format("must hold {} numbers a call, of {} calls at most", width, GroupResidual::max_rows));
        return {};
    }
    return out;
}

std::vector<OperatorKind> kinds(ObjectReader& r, std::string_view key) {
    std::vector<OperatorKind> out;
    for (const std::string& name : r.strings(key).value_or(std::vector<std::string>{})) {
        int kind = 0;
        while (kind <= static_cast<int>(OperatorKind::optimizer) && to_string(static_cast<OperatorKind>(kind)) != name)
            ++kind;
        if (kind > static_cast<int>(OperatorKind::optimizer))
            r.fail(key, fmt::format("names '{}', which is no kind of operator", name));
        else
            out.push_back(static_cast<OperatorKind>(kind));
    }
    return out;
}

Result<RefinedGroup> read_group(const Value& value, const std::string& source) {
    ObjectReader r(value, source, "group");
    for (const char* key : {"gpu", "operators"}) r.require(key, "a group says whose calls it is about");
    RefinedGroup out;
    out.gpu = r.string("gpu").value_or("");
    out.group.family = static_cast<OperatorFamily>(r.choice("operators", family_names()).value_or(0));
    out.group.session = r.boolean("session").value_or(false);
    out.group.tensor_units = r.boolean("tensor_units").value_or(false);
    const auto offset = [&](const char* key) { return r.number(key, -largest_offset, largest_offset).value_or(0.0); };
    out.fit.offsets = {offset("launch"), offset("compute"), offset("memory"),
                       static_cast<int>(r.integer("rows", 0, 1'000'000'000).value_or(0))};
    out.except = kinds(r, "except");
    const std::vector<double> flat = numbers(r, "rest", GroupResidual::anchor_width);
    if (const auto s = r.finish(); !s) return s.error();
    out.fit.residual = GroupResidual::from_numbers(flat);
    return out;
}

}  // namespace

Result<RefinedOperators> parse_refined_operators(std::string_view text, const std::string& source) {
    const auto root = parse_toml(text, source);
    if (!root) return root.error();
    RefinedOperators out;
    ObjectReader r(*root, source, "the refinement");
    r.require("schema", "a refinement states its schema");
    r.integer("schema", schema, schema);
    out.id = r.string("id").value_or("");
    if (const Value* groups = r.value("group"); groups != nullptr && groups->is_array())
        for (const Value& entry : groups->as_array()) {
            auto group = read_group(entry, source);
            if (!group) return group.error();
            out.groups.push_back(std::move(*group));
        }
    else if (groups != nullptr)
        r.fail("group", "must be an array of tables");
    if (const auto s = r.finish(); !s) return s.error();
    return out;
}

std::string write_refined_operators(const RefinedOperators& refined) {
    std::string out = fmt::format(
        "# Written by dlcast refine: what calls measured here say beside the network. No measured time is in here.\n"
        "schema = {}\nid = \"{}\"\n",
        schema, refined.id);
    for (const RefinedGroup& g : refined.groups) {
        std::string except;
        for (const OperatorKind kind : g.except) except += fmt::format("\"{}\", ", to_string(kind));
        if (!except.empty()) except = fmt::format("except = [{}]\n", except);
        out += fmt::format(
            "\n[[group]]\ngpu = \"{}\"\noperators = \"{}\"\nsession = {}\ntensor_units = {}\nrows = {}\nlaunch = "
            "{:.6f}\n"
            "compute = {:.6f}\nmemory = {:.6f}\n{}rest = [",
            g.gpu, operator_family_names[static_cast<std::size_t>(g.group.family)], g.group.session,
            g.group.tensor_units, g.fit.offsets.rows, g.fit.offsets.launch, g.fit.offsets.compute, g.fit.offsets.memory,
            except);
        for (const double number : g.fit.residual.numbers()) out += fmt::format("{:.6g}, ", number);
        out += "]\n";
    }
    return out;
}

void replace_group(std::vector<RefinedGroup>& groups, RefinedGroup fresh) {
    const auto has = [](const std::vector<OperatorKind>& kinds, OperatorKind kind) {
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    // Kinds of this family that newer groups leave to older ones.
    std::vector<OperatorKind> open = fresh.except;
    for (std::size_t i = groups.size(); i-- > 0;) {
        const RefinedGroup& old = groups[i];
        if (old.gpu != fresh.gpu || old.group != fresh.group) continue;
        const bool serves = std::any_of(open.begin(), open.end(), [&](OperatorKind k) { return !has(old.except, k); });
        std::erase_if(open, [&](OperatorKind kind) { return !has(old.except, kind); });
        if (!serves) groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
    }
    groups.push_back(std::move(fresh));
}

}  // namespace dlcast
