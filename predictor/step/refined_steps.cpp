// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/refined_steps.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/toml.h"

namespace dlcast {
namespace {

constexpr std::int64_t schema = 3, oldest_schema = 1;  // 1: without models; 2: without their scatter
constexpr std::size_t most_sizes = 64;
// Parts of sums of ratios up to largest_ratio: a part may undo the part above it.
constexpr double smallest_factor = 1.0 / (largest_ratio * largest_ratio), widest_scatter = 20.0;
constexpr std::size_t max_file_bytes = 4u << 20;

template <typename Read>
Status each_table(ObjectReader& r, std::string_view key, Read read) {
    const Value* value = r.value(key);
    if (value == nullptr) return ok();
    if (!value->is_array()) {
        r.fail(key, "must be an array of tables");
        return ok();
    }
    for (const Value& entry : value->as_array())
        if (auto s = read(entry); !s) return s;
    return ok();
}

std::vector<std::string> names() { return {collective_names.begin(), collective_names.end()}; }

Status read_sizes(ObjectReader& r, RefinedCollective& out) {
    const Value* sizes = r.value("bytes_and_us");
    const bool is_list = sizes != nullptr && sizes->is_array() && sizes->as_array().size() % 2 == 0 &&
                         sizes->as_array().size() / 2 <= most_sizes;
    if (!is_list) {
        r.fail("bytes_and_us", fmt::format("must be a list of sizes, each with its time, {} at most", most_sizes));
        return ok();
    }
    const auto& list = sizes->as_array();
    for (std::size_t i = 0; i < list.size(); i += 2) {
        const bool numbers = list[i].is_number() && list[i + 1].is_number();
        const double bytes = numbers ? list[i].as_number() : 0.0, time_us = numbers ? list[i + 1].as_number() : 0.0;
        if (!(bytes > 0 && bytes <= 1e15 && time_us > 0 && time_us <= 1e12)) {
            r.fail("bytes_and_us", "must hold bytes and microseconds above 0");
            return ok();
        }
        out.sizes.push_back({bytes, time_us});
    }
    return ok();
}

}  // namespace

Result<RefinedSteps> parse_refined_steps(std::string_view text, const std::string& source) {
    const auto root = parse_toml(text, source);
    if (!root) return root.error();
    RefinedSteps out;
    ObjectReader r(*root, source, "the refinement");
    r.require("schema", "a refinement states its schema");
    r.integer("schema", oldest_schema, schema);
    auto status = each_table(r, "collective", [&](const Value& entry) -> Status {
        ObjectReader c(entry, source, "collective");
        for (const char* key : {"gpu", "name", "bytes_and_us"}) c.require(key, "a table says what was measured");
        RefinedCollective table;
        table.gpu = c.string("gpu").value_or("");
        table.collective = static_cast<Collective>(c.choice("name", names()).value_or(0));
        table.ranks_per_node = static_cast<int>(c.integer("ranks_per_node", 1, 1 << 20).value_or(1));
        table.nodes = static_cast<int>(c.integer("nodes", 1, 1 << 20).value_or(1));
        if (auto s = read_sizes(c, table); !s) return s;
        out.collectives.push_back(std::move(table));
        return c.finish();
    });
    if (!status) return status.error();
    status = each_table(r, "factor", [&](const Value& entry) -> Status {
        ObjectReader f(entry, source, "factor");
        for (const char* key : {"gpu", "factor"}) f.require(key, "a factor says whose steps it is about");
        const std::string gpu = f.string("gpu").value_or(""), family = f.string("family").value_or("");
        const double factor = f.number("factor", smallest_factor, 1.0 / smallest_factor).value_or(1.0);
        out.factors.push_back({gpu, family, std::log(factor),
                               static_cast<int>(f.integer("cases", 0, 1 << 30).value_or(0)),
                               f.string("model").value_or(""), f.number("spread_share", 0.0, 1.0).value_or(1.0),
                               f.number("scatter_log_sd", 0.0, widest_scatter).value_or(0.0)});
        return f.finish();
    });
    if (!status) return status.error();
    if (const auto s = r.finish(); !s) return s.error();
    return out;
}

std::string write_refined_steps(const RefinedSteps& refined) {
    std::string out = fmt::format(
        "# Written by dlcast refine: collectives measured here, and how long steps took against their forecasts.\n"
        "schema = {}\n",
        schema);
    for (const RefinedCollective& table : refined.collectives) {
        out += fmt::format(
            "\n[[collective]]\ngpu = \"{}\"\nname = \"{}\"\nranks_per_node = {}\nnodes = {}\nbytes_and_us = [",
            table.gpu, collective_names[static_cast<std::size_t>(table.collective)], table.ranks_per_node, table.nodes);
        for (const CollectiveSize& size : table.sizes)
            out += fmt::format("{:.0f}.0, {:.9e}, ", size.bytes, size.time_us);
        out += "]\n";
    }
    for (const StepFactor& factor : refined.factors) {
        out += fmt::format("\n[[factor]]\ngpu = \"{}\"\nfamily = \"{}\"\nfactor = {:.9e}\ncases = {}\n", factor.gpu,
                           factor.family, std::exp(factor.log_factor), factor.cases);
        if (!factor.model.empty())
            out += fmt::format("model = {}\nspread_share = {:.6f}\nscatter_log_sd = {:.6f}\n",
                               toml_basic_string(factor.model), factor.spread_share, factor.scatter_log_sd);
    }
    return out;
}

Result<RefinedSteps> refined_steps_of(const std::string& directory) {
    const std::string path = directory + "/" + refined_steps_file;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return RefinedSteps{};
    const auto text = read_file(path, max_file_bytes);
    if (!text) return text.error();
    return parse_refined_steps(*text, path);
}

}  // namespace dlcast
