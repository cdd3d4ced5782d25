// SPDX-License-Identifier: GPL-2.0-or-later
// JSON text to Value and back.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

/// What untrusted text may cost. The defaults are the contract of the model file.
struct JsonLimits {
    std::size_t bytes = 1 << 20;
    int depth = 64;
    std::size_t values = 1'000'000;
};

/// The tree of `text`; `source` starts each message (`vgg16.json:14:20: ...`). Errors (invalid_argument): not JSON, not
/// UTF-8, a duplicate key, a number outside of double, or any limit passed.
Result<Value> parse_json(std::string_view text, const std::string& source, const JsonLimits& limits = {});

/// JSON on one line (indent < 0) or indented. Numbers read back as they were; a NaN or infinity becomes null.
std::string write_json(const Value& value, int indent = -1);
/// On one line; nothing where that takes more than `most_bytes`, which is found out without writing the rest.
std::optional<std::string> write_json_within(const Value& value, std::size_t most_bytes);

}  // namespace dlcast
