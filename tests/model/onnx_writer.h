// SPDX-License-Identifier: GPL-2.0-or-later
// Writes ONNX files by hand: the few messages of the format that a graph needs.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace onnx_writer {

inline std::string number(std::uint64_t value) {
    std::string out;
    for (; value > 0x7f; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
    return out + static_cast<char>(value);
}
inline std::string varint(int field, std::int64_t value) {
    return number(static_cast<std::uint64_t>(field) << 3) + number(static_cast<std::uint64_t>(value));
}
inline std::string bytes(int field, const std::string& content) {
    return number(static_cast<std::uint64_t>(field) << 3 | 2) + number(content.size()) + content;
}

using Sizes = std::vector<std::int64_t>;

/// A learned tensor with `data` as its raw content.
inline std::string weight(const std::string& name, const Sizes& shape, const std::string& data = "") {
    std::string out;
    for (const std::int64_t size : shape) out += varint(1, size);
    return bytes(5, out + varint(2, 1) + bytes(8, name) + (data.empty() ? "" : bytes(9, data)));
}
/// Whole numbers, kept with their values.
inline std::string numbers(const std::string& name, const Sizes& values) {
    std::string data;
    for (const std::int64_t value : values)
        for (int i = 0; i < 8; ++i) data += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    return bytes(5,
                 varint(1, static_cast<std::int64_t>(values.size())) + varint(2, 7) + bytes(8, name) + bytes(9, data));
}
inline std::string ints(const std::string& name, const Sizes& values) {
    std::string out = bytes(1, name);
    for (const std::int64_t value : values) out += varint(8, value);
    return bytes(5, out + varint(20, 7));
}
inline std::string integer(const std::string& name, std::int64_t value) {
    return bytes(5, bytes(1, name) + varint(3, value) + varint(20, 2));
}
inline std::string text(const std::string& name, const std::string& value) {
    return bytes(5, bytes(1, name) + bytes(4, value) + varint(20, 3));
}
inline std::string node(const std::string& type, const std::vector<std::string>& inputs, const std::string& output,
                        const std::string& attributes = "") {
    std::string out;
    for (const std::string& input : inputs) out += bytes(1, input);
    return bytes(1, out + bytes(2, output) + bytes(3, "/" + output) + bytes(4, type) + attributes);
}
inline std::string input_of(const std::string& name, const std::string& dimensions) {
    return bytes(11, bytes(1, name) + bytes(2, bytes(1, varint(1, 1) + bytes(2, dimensions))));
}
/// A dimension of 0 is open and has a name instead.
inline std::string input(const std::string& name, const Sizes& shape) {
    std::string dimensions;
    for (const std::int64_t size : shape) dimensions += bytes(1, size != 0 ? varint(1, size) : bytes(2, "open"));
    return input_of(name, dimensions);
}
/// Real numbers of 32 bits, kept with their values.
inline std::string reals(const std::string& name, const std::vector<float>& values) {
    std::string data;
    for (const float value : values) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        for (int i = 0; i < 4; ++i) data += static_cast<char>(bits >> (8 * i));
    }
    return bytes(5,
                 varint(1, static_cast<std::int64_t>(values.size())) + varint(2, 1) + bytes(8, name) + bytes(9, data));
}
inline std::string model(const std::string& graph, std::int64_t opset = 13, const std::string& name = "net") {
    return varint(1, 8) + bytes(2, "writer") + bytes(8, varint(2, opset)) + bytes(7, graph + bytes(2, name));
}

}  // namespace onnx_writer
