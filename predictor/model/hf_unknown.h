// SPDX-License-Identifier: GPL-2.0-or-later
// Configs of families that nobody told us of: what they are read as, what is refused, and which keys may matter.
#pragma once

#include <string>
#include <string_view>

#include "predictor/base/value.h"

namespace dlcast {

/// The family whose design is nearest, by the names of the sizes; nullptr: they have not the usual names.
const char* nearest_design(const Value& config);

/// The member that says of layers other than attention (state spaces, recurrences, convolutions, linear attention);
/// nullptr: none does.
const Value::Member* other_layers(const Value& config);

/// Whether a key of an unknown family may say a size or switch a part on: numbers, lists and switches, but those of
/// tokens, dropout, initialisation, positions and losses.
bool may_change_network(const Value::Member& member);

/// Whether it is to be named where nobody read it: what is 0, empty or off is left out anyway.
bool worth_naming(const Value::Member& member);

/// Writes transformers' own sizes of `model_type` into a nested config that leaves them out; the sentence for
/// `assumed`, empty where nothing was missing or the type is not in the table.
std::string fill_standard_sizes(Value& config);

}  // namespace dlcast
