// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/slurm_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr char unit_separator = '\x1f';
constexpr std::size_t shown_bytes = 200;

std::size_t count(std::string_view text, char c) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

}  // namespace

Result<SlurmTable> SlurmTable::open(LineReader lines, const std::vector<SlurmColumn>& columns,
                                    const std::string& remedy) {
    SlurmTable out(std::move(lines));
    std::string_view header;
    auto got = out.lines_.next(header);
    while (got && *got && trim(header).empty()) got = out.lines_.next(header);
    if (!got) return got.error();
    if (!*got) return invalid_argument(fmt::format("{}: nothing in it; print it with {}", out.source(), remedy));
    if (header.find(unit_separator) != std::string_view::npos) out.separator_ = unit_separator;
    std::vector<std::string> names;
    for (const std::string& name : split(header, out.separator_)) names.push_back(to_lower(trim(name)));
    out.ends_with_separator_ = names.size() > 1 && names.back().empty();
    if (out.ends_with_separator_) names.pop_back();
    out.width_ = names.size();
    for (const SlurmColumn& column : columns) {
        const auto found = std::find_first_of(names.begin(), names.end(), column.names.begin(), column.names.end(),
                                              [](const auto& name, auto wanted) { return name == to_lower(wanted); });
        if (found == names.end() && column.required)
            return invalid_argument(fmt::format("{}:{}: no column {} in \"{}\"; print it with {}", out.source(),
                                                out.line(), column.names.front(), one_line(header, shown_bytes),
                                                remedy));
        out.places_.push_back(found == names.end() ? -1 : static_cast<int>(found - names.begin()));
    }
    return out;
}

Result<bool> SlurmTable::look_ahead() {
    const auto got = lines_.next(ahead_);
    if (!got) return got.error();
    has_ahead_ = *got;
    return has_ahead_;
}

void SlurmTable::count_broken() {
    if (broken_lines_++ == 0) first_broken_line_ = line();
}

Result<bool> SlurmTable::next(std::vector<std::string_view>& fields) {
    const auto is_row = [&](std::string_view line) { return count(line, separator_) + 1 >= width_; };
    while (true) {
        if (!has_ahead_) {
            const auto got = look_ahead();
            if (!got || !*got) return got;
        }
        if (is_row(ahead_)) break;
        if (!trim(ahead_).empty()) count_broken();
        has_ahead_ = false;
    }
    row_ = ahead_;
    // Lines that are no row belong to the comment of the row before.
    while (true) {
        const auto got = look_ahead();
        if (!got) return got;
        if (!*got || is_row(ahead_)) break;
        if (trim(ahead_).empty()) continue;
        count_broken();
        (row_ += '\n') += ahead_;
    }
    cells_.clear();
    std::string_view rest = row_;
    while (cells_.size() + 1 < width_) {
        const auto end = rest.find(separator_);
        cells_.push_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    if (ends_with_separator_ && !rest.empty() && rest.back() == separator_) rest.remove_suffix(1);
    cells_.push_back(rest);
    fields.clear();
    for (const int place : places_)
        fields.push_back(place < 0 ? std::string_view{} : cells_[static_cast<std::size_t>(place)]);
    return true;
}

}  // namespace dlcast
