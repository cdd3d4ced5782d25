// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/toml.h"
#include "predictor/step/device_constants.h"

namespace dlcast {
namespace {

constexpr std::int64_t schema = 3;  // raised when a constant is added, dropped or changes its meaning
constexpr double smallest = 1e-12, largest = 1e12;

template <typename Read>
void each_table(ObjectReader& r, std::string_view key, Read read) {
    const Value* value = r.value(key);
    if (!value) return;
    if (!value->is_array()) return r.fail(key, "must be an array of tables");
    for (const Value& entry : value->as_array()) read(entry);
}

Status read_constants(const Value& table, const std::string& source, StepCoefficients& out) {
    ObjectReader r(table, source, "constants");
    for (std::size_t i = 0; i < constant_count; ++i) {
        const ConstantFacts& facts = constant_facts()[i];
        r.require(facts.name, "the step-time model needs each of its constants");
        const double most = facts.scale == ConstantScale::odds ? 1.0 - 1e-9 : largest;
        if (const auto value = r.number(facts.name, smallest, most))
            out[i] = fitted_value(static_cast<StepConstant>(i), *value);
    }
    return r.finish();
}

Status read_deviations(const Value& table, const std::string& source, StepCoefficients& out) {
    ObjectReader r(table, source, "deviations");
    for (std::size_t i = 0; i < constant_count; ++i) {
        const char* name = constant_facts()[i].name.data();
        r.require(name, "the spread of a forecast needs the deviation of each constant");
        if (const auto value = r.number(name, 0.0, 10.0)) out[i] = *value;
    }
    return r.finish();
}

StepSpread read_spread(const Value& table, const std::string& source, Status& status) {
    ObjectReader r(table, source, "spread");
    StepSpread out;
    out.seen_log_sd = r.number("seen_log_sd", 0.0, 10.0).value_or(out.seen_log_sd);
    out.unseen_gpu_log_sd = r.number("unseen_gpu_log_sd", 0.0, 10.0).value_or(out.unseen_gpu_log_sd);
    out.unseen_model_log_sd = r.number("unseen_model_log_sd", 0.0, 10.0).value_or(out.unseen_model_log_sd);
    status = r.finish();
    return out;
}

std::string toml_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text)
        if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) out.push_back(c);
    return out + '"';
}

std::string list(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + toml_string(name);
    return "[" + out + "]";
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

double StepWeights::log_sd(const Device& device, std::string_view family, double constants_log_sd) const {
    const double seen = spread.seen_log_sd, clocks = clock_log_sd(device);
    double variance = seen * seen + constants_log_sd * constants_log_sd;
    // Those of what was left out hold what remains where everything is known.
    if (!holds(gpus, device.name))
        variance += std::max(0.0, spread.unseen_gpu_log_sd * spread.unseen_gpu_log_sd - seen * seen) + clocks * clocks;
    if (!holds(families, family))
        variance += std::max(0.0, spread.unseen_model_log_sd * spread.unseen_model_log_sd - seen * seen);
    return std::sqrt(variance);
}

Result<StepWeights> parse_step_weights(std::string_view text, const std::string& source) {
    const auto tree = parse_toml(text, source);
    if (!tree) return tree.error();
    StepWeights out;
    Status status = ok();
    const auto keep = [&status](Status next) {
        if (status && !next) status = next;
    };
    ObjectReader r(*tree, source, "step weights");
    r.require("schema", "step weights state their schema");
    r.require("constants", "step weights hold the constants of the model");
    r.require("deviations", "step weights say how well each constant is known");
    if (const auto found = r.integer("schema"); found && *found != schema)
        return invalid_argument(
            fmt::format("{}: schema {}; this program reads schema {}: train again", source, *found, schema));
    out.gpus = r.strings("gpus").value_or(std::vector<std::string>{});
    out.families = r.strings("families").value_or(std::vector<std::string>{});
    if (const Value* constants = r.value("constants")) keep(read_constants(*constants, source, out.coefficients));
    if (const Value* deviations = r.value("deviations")) keep(read_deviations(*deviations, source, out.deviations));
    if (const Value* spread = r.value("spread")) {
        Status read = ok();
        out.spread = read_spread(*spread, source, read);
        keep(read);
    }
    each_table(r, "source", [&](const Value& entry) {
        ObjectReader s(entry, source, "source");
        const std::string name = s.string("name").value_or("");
        out.sources.push_back({name, s.integer("rows", 0).value_or(0)});
        keep(s.finish());
    });
    each_table(r, "held_out", [&](const Value& entry) {
        ObjectReader h(entry, source, "held_out");
        StepHeldOut held;
        held.left_out = h.string("left_out").value_or("");
        held.cases = h.integer("cases", 0).value_or(0);
        held.mape_pct = h.number("mape_pct", 0.0).value_or(0.0);
        held.median_ape_pct = h.number("median_ape_pct", 0.0).value_or(0.0);
        held.p90_ape_pct = h.number("p90_ape_pct", 0.0).value_or(0.0);
        out.held_out.push_back(held);
        keep(h.finish());
    });
    keep(r.finish());
    if (!status) return status.error();
    return out;
}

std::string write_step_weights(const StepWeights& weights) {
    std::string out = fmt::format(
        "# SPDX-License-Identifier: GPL-2.0-or-later\n"
        "# Constants of the step-time model, fitted by `dlcast train --steps`. No measured row is in here.\n"
        "schema = {}\ngpus = {}\nfamilies = {}\n\n[spread]\nseen_log_sd = {:.4f}\nunseen_gpu_log_sd = {:.4f}\n"
        "unseen_model_log_sd = {:.4f}\n\n[constants]\n",
        schema, list(weights.gpus), list(weights.families), weights.spread.seen_log_sd,
        weights.spread.unseen_gpu_log_sd, weights.spread.unseen_model_log_sd);
    for (std::size_t i = 0; i < constant_count; ++i)
        out += fmt::format("{} = {:.6e}\n", constant_facts()[i].name,
                           natural_value(static_cast<StepConstant>(i), weights.coefficients[i]));
    out += "\n# Standard deviation of the logarithm of each (of the log odds of shares).\n[deviations]\n";
    for (std::size_t i = 0; i < constant_count; ++i)
        out += fmt::format("{} = {:.4f}\n", constant_facts()[i].name, weights.deviations[i]);
    for (const StepSource& source : weights.sources)
        out += fmt::format("\n[[source]]\nname = {}\nrows = {}\n", toml_string(source.name), source.rows);
    for (const StepHeldOut& held : weights.held_out)
        out += fmt::format(
            "\n[[held_out]]\nleft_out = {}\ncases = {}\nmape_pct = {:.2f}\nmedian_ape_pct = {:.2f}\np90_ape_pct = "
            "{:.2f}\n",
            toml_string(held.left_out), held.cases, held.mape_pct, held.median_ape_pct, held.p90_ape_pct);
    return out;
}

Result<FittedCollectives> collectives_of(const std::string& directory) {
    const std::string path = directory + "/" + collectives_file;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return shipped_collectives();
    const auto text = read_file(path, 1u << 20);
    if (!text) return text.error();
    return parse_fitted_collectives(*text, path);
}

Result<StepWeights> read_step_weights(const std::string& directory) {
    StepWeights out;
    std::error_code ignored;
    if (const std::string path = directory + "/" + step_weights_file; std::filesystem::exists(path, ignored)) {
        const auto text = read_file(path, 1u << 20);
        if (!text) return text.error();
        auto read = parse_step_weights(*text, step_weights_file);
        if (!read) return read.error();
        out = std::move(*read);
    }
    auto collectives = collectives_of(directory);
    if (!collectives) return collectives.error();
    out.collectives = std::move(*collectives);
    auto refined = refined_steps_of(directory);
    if (!refined) return refined.error();
    out.collectives.refined = std::move(refined->collectives);
    out.factors = std::move(refined->factors);
    return out;
}

}  // namespace dlcast
