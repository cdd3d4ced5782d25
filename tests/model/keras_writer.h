// SPDX-License-Identifier: GPL-2.0-or-later
// Model files as Keras writes them, for tests of their reader.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace keras_writer {

// A layer of Keras: its class, the inside of its config, and what it reads.
inline std::string layer(const std::string& kind, const std::string& name, const std::string& config,
                         const std::string& nodes = "") {
    return fmt::format(R"({{"class_name": "{}", "name": "{}", "config": {{"name": "{}"{}{}}}{}}})", kind, name, name,
                       config.empty() ? "" : ", ", config, nodes.empty() ? "" : ", \"inbound_nodes\": " + nodes);
}

inline std::string input(const std::string& name, const std::string& shape) {
    return layer("InputLayer", name, "\"batch_shape\": [null, " + shape + "]", "[]");
}

// Keras 2's [[["a", 0, 0, {}]], ..]: one call for each text, names joined by "+", "name@1" for a second call of it.
inline std::string reads(const std::vector<std::string>& calls) {
    std::string out;
    for (const std::string& call : calls) {
        std::string node;
        for (std::size_t start = 0; start <= call.size();) {
            const std::size_t end = std::min(call.find('+', start), call.size());
            const std::string part = call.substr(start, end - start);
            const auto at = part.find('@');
            node += fmt::format(R"({}["{}", {}, 0, {{}}])", node.empty() ? "" : ", ", part.substr(0, at),
                                at == std::string::npos ? "0" : part.substr(at + 1));
            start = end + 1;
        }
        out += fmt::format("{}[{}]", out.empty() ? "" : ", ", node);
    }
    return "[" + out + "]";
}

inline std::string functional(const std::vector<std::string>& layers, const std::string& more = "") {
    std::string all;
    for (const std::string& one : layers) all += (all.empty() ? "" : ",\n") + one;
    return fmt::format(R"({{"class_name": "Functional", "config": {{"name": "m", "layers": [{}]{}}}}})", all, more);
}

// An input and the layers behind it, one after the other.
inline std::string chain(const std::string& shape, const std::vector<std::string>& layers) {
    std::string all = input("in", shape);
    for (const std::string& one : layers) all += ",\n" + one;
    return fmt::format(R"({{"class_name": "Sequential", "config": {{"name": "m", "layers": [{}]}}}})", all);
}

}  // namespace keras_writer
