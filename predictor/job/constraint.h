// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcast {

/// Does a node with `features` satisfy --constraint? `a&b` (also `a,b`), `a|b`, parentheses and brackets, '&' before
/// '|'; case aside. Counts ("gpu*2") are passed over, and of alternatives for the whole job ("[a|b]") each node may
/// take any. What cannot be read satisfies nothing. Source: sbatch(1), --constraint.
bool satisfies(std::string_view constraint, const std::vector<std::string>& features);

}  // namespace dlcast
