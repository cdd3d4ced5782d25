// SPDX-License-Identifier: GPL-2.0-or-later
// Tables as sacct, sacctmgr and sshare print them with --parsable2: a header, then one row a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/line_reader.h"

namespace dlcast {

/// A column that is wanted, under any of its `names` (case aside). `remedy` is said where a required one is missing.
struct SlurmColumn {
    std::vector<std::string_view> names;
    bool required = false;
};

class SlurmTable {
public:
    /// Reads the header; fields are separated by '|', or by the unit separator 0x1f where the header has one. Columns
    /// may stand in any order, others are passed over. Errors: no header; a required column is not there, with
    /// `remedy`, the command that prints it.
    static Result<SlurmTable> open(LineReader lines, const std::vector<SlurmColumn>& columns,
                                   const std::string& remedy);

    /// The next row: fields in the order of `columns`, empty where the table has no such column; valid until the next
    /// call. False at the end. The last column of the table keeps separators and line breaks in it (a comment); lines
    /// that are no whole row otherwise are counted.
    Result<bool> next(std::vector<std::string_view>& fields);

    std::size_t broken_lines() const { return broken_lines_; }
    std::size_t first_broken_line() const { return first_broken_line_; }  // 0: there is none
    const std::string& source() const { return lines_.source(); }
    std::size_t line() const { return lines_.line(); }

private:
    explicit SlurmTable(LineReader lines) : lines_(std::move(lines)) {}
    Result<bool> look_ahead();
    void count_broken();  // the line ahead

    LineReader lines_;
    char separator_ = '|';
    bool ends_with_separator_ = false;  // each line, as --parsable prints
    std::size_t width_ = 0;             // columns of the table
    std::vector<int> places_;           // of the wanted columns; -1: not there
    std::string row_;
    std::string_view ahead_;  // the line after the row
    bool has_ahead_ = false;
    std::vector<std::string_view> cells_;
    std::size_t broken_lines_ = 0, first_broken_line_ = 0;
};

}  // namespace dlcast
