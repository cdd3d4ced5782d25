// SPDX-License-Identifier: GPL-2.0-or-later
// Reads an object key by key, checks kinds and ranges, and ends with the keys nobody asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

/// "source:line:column: text", or "source: text" where there is no place.
std::string at_place(const std::string& source, Position at, const std::string& text);

/// What could be read of a file, and everything that is wrong with it; `value` holds defaults in the place of faults.
template <typename T>
struct Checked {
    T value;
    std::vector<std::string> faults;
};

/// The value of a faultless file, else its first fault.
template <typename T>
Result<T> result_of(Checked<T> checked) {
    if (!checked.faults.empty()) return invalid_argument(checked.faults.front());
    return std::move(checked.value);
}

/// Every getter returns nothing both where the key is absent and where it is wrong; faults are kept and the first comes
/// out of `finish`. So a reader is written as a plain list of keys:
///     ObjectReader r(value, source, "training");
///     t.batch_size = r.integer("batch_size", 1, 1 << 24).value_or(32);
///     if (auto s = r.finish(); !s) return s.error();
class ObjectReader {
public:
    /// `what` names the object in messages ("training", "layer 3 (fc6)"). `value` must outlive the reader.
    ObjectReader(const Value& value, std::string source, std::string what);

    bool has(std::string_view key);
    /// The raw member, marked as known.
    const Value* value(std::string_view key);
    std::optional<std::int64_t> integer(std::string_view key,
                                        std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                                        std::int64_t max = std::numeric_limits<std::int64_t>::max());
    std::optional<double> number(std::string_view key, double min = -std::numeric_limits<double>::max(),
                                 double max = std::numeric_limits<double>::max());
    std::optional<bool> boolean(std::string_view key);
    std::optional<std::string> string(std::string_view key);
    /// A string that must be one of `names`; the index of it.
    std::optional<std::size_t> choice(std::string_view key, const std::vector<std::string>& names);
    std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t min, std::int64_t max);
    std::optional<std::vector<std::string>> strings(std::string_view key);

    /// Notes a fault at the key's place (or the object's), for checks of the caller's own.
    void fail(std::string_view key, const std::string& text);
    bool failed() const { return !faults_.empty(); }
    /// The first fault, or an unknown key with the nearest known one, or a required key that is missing.
    Status finish();
    /// All of them, complete after `finish`: for those who check a whole file at once.
    const std::vector<std::string>& faults() const { return faults_; }
    /// Names a key that must be there, with the remedy ("add \"kernel\": [3, 3]").
    void require(std::string_view key, const std::string& remedy);

private:
    const Value& object_;
    std::string source_;
    std::string what_;
    std::vector<std::string> known_;
    std::vector<std::string> faults_;
};

}  // namespace dlcast
