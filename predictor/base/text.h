// SPDX-License-Identifier: GPL-2.0-or-later
// Small text helpers shared by messages, names and Slurm's time formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"

namespace dlcast {

/// Levenshtein's distance: letters to insert, delete or change. Costs the product of both lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The known name nearest to `name` (case aside), or "" if none is near enough to be meant (edit distance over a
/// third).
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// ASCII lower case. Letters and digits only in `squeeze`, lower-cased ("NVIDIA A100-SXM4" -> "nvidiaa100sxm4").
std::string to_lower(std::string_view text);
std::string squeeze(std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);
/// `text` as it may stand in a message: control characters (those that turn the writing's direction, too) become '?',
/// and what is longer than `max_bytes` is cut between characters of UTF-8.
std::string one_line(std::string_view text, std::size_t max_bytes);
std::string_view trim(std::string_view text);

/// Whole non-negative decimal number, nothing else around it; nothing if it does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);
/// What is wrong with a number that a person wrote, and what would do; empty: nothing.
std::string number_fault(std::string_view text, double min, double max);

/// Slurm's time limit format: `D-HH:MM:SS`, or `H:MM:SS` below a day (as squeue prints).
std::string format_slurm_time(std::int64_t seconds);
/// Minutes of Slurm's forms: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`,
/// `days-hours:minutes:seconds`; seconds round up. `UNLIMITED`, `INFINITE` and `NONE` give -1. Source: sbatch(1),
/// --time.
std::optional<std::int64_t> parse_slurm_minutes(std::string_view text);
/// As a person says it: "45 s", "12 min", "3 h 10 min", "2 d 4 h", from two years on "3.1 years".
std::string format_duration(double seconds);
/// A count of hours with the digits that matter: "0.0021", "12.7", "3.2e+08".
std::string format_hours(double hours);
/// Of one step: "118.304 ms", "12.50 s", and longer ones as a duration.
std::string format_step_time(double seconds);

/// The whole file, at most `max_bytes`. Errors: missing, a directory, unreadable, too large.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);
/// Writes beside the file, syncs and renames, so that a reader sees the old or the new text and nothing between. A link
/// is followed. `sync` false: without waiting for the disk, for what may be lost. Errors: a directory, a device or a
/// pipe in its place, no permission, no room.
Status write_file_atomically(const std::string& name, std::string_view text, bool sync = true);

}  // namespace dlcast
