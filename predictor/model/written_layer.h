// SPDX-License-Identifier: GPL-2.0-or-later
// One written-out layer: its keys, and the builder it is appended to. Shared by written*.cpp alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "predictor/base/reader.h"
#include "predictor/model/builder.h"
#include "predictor/model/transformer.h"

namespace dlcast {

/// Reads keys; the first missing one is kept as "conv2d needs a kernel; add "kernel": [3, 3]".
class WrittenLayer {
public:
    WrittenLayer(const Value& value, const std::string& source, std::string type, std::string name,
                 ModelBuilder& builder);

    std::int64_t need(const char* key, const char* example);
    std::int64_t size_or(const char* key, std::int64_t standard, std::int64_t min = 1);
    bool flag_or(const char* key, bool standard) { return reader.boolean(key).value_or(standard); }
    std::string text_or(const char* key, const std::string& standard);
    /// One number for both sides, or [height, width].
    struct Pair {
        std::int64_t h, w;
    };
    std::optional<Pair> pair(const char* key, std::int64_t min);
    Pair need_pair(const char* key, const char* example);
    /// "kernel", "stride", "padding", "dilation"; the stride of a pooling defaults to its kernel.
    Window window(bool pooling);
    /// Appends the activation named by `key`, if any.
    void then_activation();

    /// The first fault of keys or shapes, with its place.
    Status finish();

    const std::string type, name;
    ModelBuilder& b;
    ObjectReader reader;

private:
    const Value& value_;
    const std::string& source_;
    std::string missing_;
};

using LayerWriter = void (*)(WrittenLayer& layer);

/// The function that appends layers of that type; nullptr: no such type. Types that join tensors are not among them.
LayerWriter find_layer_writer(std::string_view type);
/// Their names, aliases left out.
std::vector<std::string> layer_writer_names();
/// Function of an activation layer, by the names frameworks give it; nothing: unknown.
std::optional<std::string> activation_from(std::string_view name);

}  // namespace dlcast
