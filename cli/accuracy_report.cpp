// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/accuracy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <tuple>

#include "cli/published_errors.h"
#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t max_result_bytes = 16u << 20;

// Figures of a group, as the verbs name them, in the order of the columns.
struct Column {
    std::string_view key, heading;
    int decimals;
};
constexpr std::array<Column, 11> columns{{{"rows", "rows", 0},
                                          {"mape_pct", "MAPE %", 1},
                                          {"median_ape_pct", "median %", 1},
                                          {"p90_ape_pct", "p90 %", 1},
                                          {"mean_family_median_ape_pct", "median, mean of families %", 1},
                                          {"bias_pct", "bias %", 1},
                                          {"rmse_ms", "RMSE ms", 3},
                                          {"roofline_mape_pct", "roofline MAPE %", 1},
                                          {"coverage_90_pct", "in 90 %", 1},
                                          {"below_p05_pct", "below 5 %", 1},
                                          {"above_p95_pct", "above 95 %", 1}}};

Result<std::string> text_of(const Value& object, const char* key, const std::string& file, bool needed) {
    const Value* found = object.find(key);
    if (found != nullptr && found->is_string()) return found->as_string();
    if (found == nullptr && !needed) return std::string();
    return invalid_argument(fmt::format("{}: \"{}\" is no text", file, key));
}

Result<KeptResult> read_one(const std::string& path) {
    const auto content = read_file(path, max_result_bytes);
    if (!content) return content.error();
    const auto object = parse_json(*content, path);
    if (!object) return object.error();
    KeptResult out;
    out.section = std::filesystem::path(path).stem().string();
    for (const auto& [key, field, needed] : {std::tuple{"title", &KeptResult::title, true},
                                             {"text", &KeptResult::text, false},
                                             {"command", &KeptResult::command, true},
                                             {"date", &KeptResult::date, false},
                                             {"picture", &KeptResult::picture, false}}) {
        auto text = text_of(*object, key, path, needed);
        if (!text) return text.error();
        out.*field = std::move(*text);
    }
    const Value* result = object->find("result");
    if (result == nullptr || !result->is_object())
        return invalid_argument(fmt::format("{}: \"result\" is no object; keep what --json printed there", path));
    out.result = *result;
    return out;
}

const Value* number(const Value& figures, std::string_view key) {
    const Value* found = figures.find(key);
    return found != nullptr && found->is_number() ? found : nullptr;
}

std::string line(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string heading(const std::vector<std::string>& cells) {
    return fmt::format("\n{}{}", line(cells), line(std::vector<std::string>(cells.size(), "---")));
}

std::vector<Column> columns_of(const Value& figures) {
    std::vector<Column> out;
    for (const Column& column : columns)
        if (number(figures, column.key) != nullptr) out.push_back(column);
    return out;
}

std::vector<std::string> cells_of(const std::string& name, const Value& figures, const std::vector<Column>& of) {
    std::vector<std::string> cells{name};
    for (const Column& column : of) {
        const Value* value = number(figures, column.key);
        cells.push_back(value == nullptr ? "-" : fmt::format("{:.{}f}", value->as_number(), column.decimals));
    }
    return cells;
}

std::vector<std::string> headings_of(const std::string& first, const std::vector<Column>& of) {
    std::vector<std::string> cells{first};
    for (const Column& column : of) cells.emplace_back(column.heading);
    return cells;
}

// Groups whose figures stand under the names of predictors, ours first: MAPE of each on the same rows.
bool has_predictors(const Value& groups) {
    return !groups.as_object().empty() && groups.as_object().front().value.is_object() &&
           number(groups.as_object().front().value, "rows") == nullptr;
}

std::string predictors_table(const std::string& by, const Value& groups) {
    std::vector<std::string> names;
    for (const Value::Member& group : groups.as_object())
        for (const Value::Member& predictor : group.value.as_object())
            if (std::find(names.begin(), names.end(), predictor.key) == names.end()) names.push_back(predictor.key);
    std::vector<std::string> cells{by, "rows"};
    for (const std::string& name : names) cells.push_back(predictor_name(name));
    std::string out = heading(cells);
    for (const Value::Member& group : groups.as_object()) {
        double rows = 0;
        std::vector<std::string> figures;
        for (const std::string& name : names) {
            const Value* of = group.value.find(name);
            const Value* mape = of == nullptr ? nullptr : number(*of, "mape_pct");
            figures.push_back(mape == nullptr ? "-" : fmt::format("{:.1f}", mape->as_number()));
            if (const Value* count = of == nullptr ? nullptr : number(*of, "rows"))
                rows = std::max(rows, count->as_number());
        }
        cells = {group.key, fmt::format("{:.0f}", rows)};
        cells.insert(cells.end(), figures.begin(), figures.end());
        out += line(cells);
    }
    return out;
}

std::string groups_table(const std::string& by, const Value& groups) {
    if (has_predictors(groups)) return predictors_table(by, groups);
    std::string out;
    std::vector<Column> of;
    for (const Value::Member& group : groups.as_object()) {
        if (!group.value.is_object()) continue;
        if (of.empty()) {
            of = columns_of(group.value);
            out = heading(headings_of("by " + by, of));
        }
        out += line(cells_of(group.key, group.value, of));
    }
    return out;
}

// Which weights forecast; "" where each fold had its own.
std::string weights_of(const Value& result) {
    const Value* id = result.find("weights");
    return id != nullptr && id->is_string() && !id->as_string().empty() ? ", weights " + id->as_string() : "";
}

std::string section_text(const KeptResult& kept) {
    std::string out = fmt::format("\n## {}\n\n", kept.title);
    if (!kept.text.empty()) out += kept.text + "\n\n";
    out += fmt::format("`{}`{}{}\n", kept.command, kept.date.empty() ? "" : " (" + kept.date + ")",
                       weights_of(kept.result));
    const std::vector<Column> of = columns_of(kept.result);
    if (!of.empty()) out += heading(headings_of("all rows", of)) + line(cells_of("dlcast", kept.result, of));
    const std::string published = published_lines(kept.section);
    if (!published.empty()) out += "\nPublished, or measured by others, on such rows:\n\n" + published;
    if (const Value* by = kept.result.find("by"); by != nullptr && by->is_object())
        for (const Value::Member& way : by->as_object())
            if (way.value.is_object()) out += groups_table(way.key, way.value);
    if (!kept.picture.empty()) out += fmt::format("\n![forecast against measured]({})\n", kept.picture);
    return out;
}

}  // namespace

Result<std::vector<KeptResult>> read_kept_results(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
        if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    if (failed) return not_found(fmt::format("cannot read '{}': {}", folder, failed.message()));
    if (paths.empty())
        return not_found(
            fmt::format("no result in '{}'; contrib/accuracy runs the evaluations and keeps them", folder));
    std::sort(paths.begin(), paths.end());
    std::vector<KeptResult> out;
    for (const std::string& path : paths) {
        auto kept = read_one(path);
        if (!kept) return kept.error();
        out.push_back(std::move(*kept));
    }
    return out;
}

std::string accuracy_page(const std::vector<KeptResult>& results) {
    std::string out =
        "# Accuracy\n\nWritten by `dlcast evaluate report` from the commands named below (`contrib/accuracy` runs them "
        "all).\n\nMAPE is the mean of |forecast - measured| / measured; median and p90 are of the same. \"in 90 %\" is "
        "the share of rows whose\n90 % interval holds the measured time. The roofline is the larger of arithmetic over "
        "the sustained rate and traffic over\nthe bandwidth. No row was trained on by the weights that forecast it, "
        "except where a section says so.\n\nThe measured tables are others' and no part of this repository. No GPU "
        "machine was available for the\nproject's own samples: nothing here was measured with `dlcast-profile`, no "
        "such sample trained the\nweights, and the profiler's own accuracy on GPUs is not judged.\n";
    for (const KeptResult& kept : results) out += section_text(kept);
    return out;
}

}  // namespace dlcast
