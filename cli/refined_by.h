// SPDX-License-Identifier: GPL-2.0-or-later
// Which samples stand in refined weights: a forecast that was fitted to a sample cannot be judged by it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "cli/site_samples.h"

namespace dlcast {

inline constexpr const char* refined_by_file = "refined_by.toml";
inline constexpr const char* steps_part = "steps";

/// Hashes of the samples (SampledCall::id) whose fit is in force, by device and part: a kind of operator with the
/// clock and units of its group, or "steps".
using RefinedBy = std::map<std::pair<std::string, std::string>, std::set<std::string>>;

/// "linear", "linear on tensor units in sessions"
std::string part_name(const OperatorGroup& group, OperatorKind kind);

bool contains(const RefinedBy& by, const std::string& gpu, const std::string& part, const std::string& id);

/// Of whole steps.
RefinedBy steps_of(const SiteSamples& samples);

/// `directory`/refined_by.toml; empty where there is none. Errors: bad TOML, a value that is no list of strings.
Result<RefinedBy> read_refined_by(const std::string& directory);
std::string write_refined_by(const RefinedBy& by);

}  // namespace dlcast
