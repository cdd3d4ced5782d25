// SPDX-License-Identifier: GPL-2.0-or-later
// Reads measured tables: CSV as RFC 4180 has it, plain or gzip, one row at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"

namespace dlcast {

class CsvReader {
public:
    /// Opens the file and reads its header row. Errors: missing, unreadable, empty, a column named twice.
    static Result<CsvReader> open(const std::string& path);

    const std::string& path() const { return path_; }
    const std::vector<std::string>& header() const { return header_; }
    /// Index of a column, or -1.
    int column(std::string_view name) const;

    /// The next row into `fields`, as many as the header has; false at the end of the file. Empty lines are passed
    /// over. Errors name the line: another number of fields, an open quote, a field over 1 MiB, broken compressed data.
    Result<bool> next(std::vector<std::string>& fields);
    /// Line on which the row that `next` gave began.
    std::size_t line() const { return row_line_; }

private:
    struct Stream;
    CsvReader() = default;
    Result<bool> read_record(std::vector<std::string>& fields);

    std::string path_;
    std::shared_ptr<Stream> stream_;
    std::vector<std::string> header_;
    std::size_t line_ = 1;
    std::size_t row_line_ = 1;
};

/// A field as RFC 4180 writes it: quoted where it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

}  // namespace dlcast
