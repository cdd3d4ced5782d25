// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of configurations of a system and what was measured with each, for guided sampling. One configuration a row,
// columns separated by commas (RFC 4180), blanks, tabs or semicolons, plain or gzip.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/sampling/option_scale.h"

namespace dlcast {

/// A column as it stands in the file, not yet read as numbers.
struct TextColumn {
    std::string name;
    std::vector<std::string> cells;  // one a configuration
};

struct SamplingTable {
    std::string path;
    std::vector<TextColumn> columns;
    std::vector<std::size_t> lines;  // of each configuration in the file

    const TextColumn* find(std::string_view name) const;
};

/// Errors: unreadable file, broken CSV, no or more than 100,000 configurations.
Result<SamplingTable> read_sampling_table(const std::string& path);

/// Takes a column out of the table, so that what is left cannot tell its values. Error: there is none of this name.
Result<TextColumn> take_column(SamplingTable& table, const std::string& name);

/// The options: columns of numbers that take at least two values in the source and stand in both tables. A column with
/// more different values than half the configurations is taken for a measurement or a serial number. `named` (may be
/// empty) replaces this guess. Errors: an option of one table is missing in the other, a named one is missing or no
/// number, no option at all.
Result<std::vector<std::string>> common_options(const SamplingTable& source, const SamplingTable& target,
                                                const std::vector<std::string>& named);

/// The options' numbers; the columns must be those of `common_options`.
Configurations configurations_of(const SamplingTable& table, const std::vector<std::string>& options);

/// Column config_name, else the row numbers from 1.
std::vector<std::string> configuration_names(const SamplingTable& table);

/// The numbers of a taken column at some rows of its table; no other cell is looked at. Errors name line and cell: not
/// a number, not above zero.
Result<std::vector<double>> measurements(const SamplingTable& table, const TextColumn& column,
                                         const std::vector<std::size_t>& rows);

}  // namespace dlcast
