// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/sampling_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "cli/csv.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t max_rows = 100'000;

/// A header without commas may hold the columns of another separator; 0 where it is one column.
char inner_separator(const std::vector<std::string>& header) {
    if (header.size() != 1) return 0;
    for (const char c : {'\t', ';', ' '})
        if (header[0].find(c) != std::string::npos) return c;
    return 0;
}

std::vector<std::string> cells_of(std::vector<std::string> fields, char separator) {
    if (separator == 0) return fields;
    auto cells = split(fields[0], separator);
    // Blanks align columns: any run of them is one separator. Tabs and semicolons may enclose an empty cell.
    if (separator == ' ') std::erase_if(cells, [](const std::string& cell) { return cell.empty(); });
    return cells;
}

std::optional<std::vector<double>> numbers_of(const TextColumn& column) {
    std::vector<double> out;
    for (const std::string& cell : column.cells) {
        const auto number = parse_number(trim(cell));
        if (!number) return std::nullopt;
        out.push_back(*number);
    }
    return out;
}

bool looks_like_option(const TextColumn& column) {
    const auto numbers = numbers_of(column);
    if (!numbers) return false;
    const std::size_t distinct = std::set<double>(numbers->begin(), numbers->end()).size();
    return distinct > 1 && 2 * distinct <= numbers->size();
}

Error lacks(const SamplingTable& table, const std::string& column) {
    std::vector<std::string> known;
    for (const TextColumn& c : table.columns) known.push_back(c.name);
    const std::string near = nearest_name(column, known);
    return invalid_argument(fmt::format(
        "{}:1: no column '{}'; {}", table.path, column,
        near.empty() ? fmt::format("it has {}", fmt::join(known, ", ")) : fmt::format("did you mean '{}'?", near)));
}

Result<std::vector<std::string>> named_options(const SamplingTable& source, const SamplingTable& target,
                                               const std::vector<std::string>& named) {
    for (const SamplingTable* table : {&source, &target})
        for (const std::string& name : named) {
            const TextColumn* column = table->find(name);
            if (column == nullptr) return lacks(*table, name);
            for (std::size_t i = 0; i < column->cells.size(); ++i)
                if (!parse_number(trim(column->cells[i])))
                    return invalid_argument(fmt::format("{}:{}: option {} is '{}'; it must be a number", table->path,
                                                        table->lines[i], name, column->cells[i]));
        }
    return named;
}

}  // namespace

const TextColumn* SamplingTable::find(std::string_view name) const {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
    return found == columns.end() ? nullptr : &*found;
}

Result<SamplingTable> read_sampling_table(const std::string& path) {
    auto reader = CsvReader::open(path);
    if (!reader) return reader.error();
    SamplingTable table{.path = path, .columns = {}, .lines = {}};
    const char separator = inner_separator(reader->header());
    for (std::string& name : cells_of(reader->header(), separator)) {
        if (table.find(name) != nullptr)
            return invalid_argument(fmt::format("{}:1: column '{}' stands twice; rename one", path, name));
        table.columns.push_back({std::move(name), {}});
    }
    std::vector<std::string> fields;
    while (true) {
        const auto more = reader->next(fields);
        if (!more) return more.error();
        if (!*more) break;
        auto cells = cells_of(std::move(fields), separator);
        if (cells.empty()) continue;
        if (cells.size() != table.columns.size())
            return invalid_argument(fmt::format("{}:{}: {} fields where the header has {}", path, reader->line(),
                                                cells.size(), table.columns.size()));
        if (table.lines.size() == max_rows)
            return invalid_argument(fmt::format("{}: more than {} configurations; leave some out", path, max_rows));
        table.lines.push_back(reader->line());
        for (std::size_t j = 0; j < cells.size(); ++j) table.columns[j].cells.push_back(std::move(cells[j]));
    }
    if (table.lines.empty()) return invalid_argument(fmt::format("{}: no configuration below the header", path));
    return table;
}

Result<TextColumn> take_column(SamplingTable& table, const std::string& name) {
    const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const TextColumn& column) { return column.name == name; });
    if (found == table.columns.end()) return lacks(table, name);
    TextColumn column = std::move(*found);
    table.columns.erase(found);
    return column;
}

Result<std::vector<std::string>> common_options(const SamplingTable& source, const SamplingTable& target,
                                                const std::vector<std::string>& named) {
    if (!named.empty()) return named_options(source, target, named);
    std::vector<std::string> options;
    const auto check_side = [&](const SamplingTable& from, const SamplingTable& to, bool keep) -> Status {
        for (const TextColumn& column : from.columns) {
            if (!looks_like_option(column)) continue;
            const TextColumn* other = to.find(column.name);
            if (other == nullptr || !numbers_of(*other))
                return invalid_argument(fmt::format(
                    "{}: option '{}' of {} is {}; give both tables the same options, or name them with --options",
                    to.path, column.name, from.path, other == nullptr ? "missing" : "no number everywhere"));
            if (keep) options.push_back(column.name);
        }
        return ok();
    };
    if (auto s = check_side(source, target, true); !s) return s.error();
    if (auto s = check_side(target, source, false); !s) return s.error();
    if (options.empty())
        return invalid_argument(
            fmt::format("{}: no column looks like an option (numbers, two values or more, most of "
                        "them repeated); name them with --options",
                        source.path));
    return options;
}

Configurations configurations_of(const SamplingTable& table, const std::vector<std::string>& options) {
    Configurations out{.options = options, .values = Matrix(table.lines.size(), options.size())};
    for (std::size_t j = 0; j < options.size(); ++j) {
        const auto numbers = numbers_of(*table.find(options[j]));
        for (std::size_t i = 0; i < numbers->size(); ++i) out.values(i, j) = (*numbers)[i];
    }
    return out;
}

std::vector<std::string> configuration_names(const SamplingTable& table) {
    if (const TextColumn* column = table.find("config_name"); column != nullptr) return column->cells;
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= table.lines.size(); ++i) names.push_back(fmt::format("{}", i));
    return names;
}

Result<std::vector<double>> measurements(const SamplingTable& table, const TextColumn& column,
                                         const std::vector<std::size_t>& rows) {
    std::vector<double> out;
    for (const std::size_t i : rows) {
        const auto number = parse_number(trim(column.cells[i]));
        if (!number || !(*number > 0.0))
            return invalid_argument(fmt::format("{}:{}: {} is '{}'; a measured value must be a number above zero",
                                                table.path, table.lines[i], column.name, column.cells[i]));
        out.push_back(*number);
    }
    return out;
}

}  // namespace dlcast
