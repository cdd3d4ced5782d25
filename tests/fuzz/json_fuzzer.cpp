// SPDX-License-Identifier: GPL-2.0-or-later
// JSON of any kind: what is read must be written as it reads back.
#include <cstddef>
#include <cstdint>

#include "predictor/base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto value = dlcast::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!value) return 0;
    const std::string text = dlcast::write_json(*value);
    dlcast::JsonLimits limits;
    limits.bytes = text.size();
    const auto again = dlcast::parse_json(text, "again.json", limits);
    if (!again || dlcast::write_json(*again) != text) __builtin_trap();
    return 0;
}
