// SPDX-License-Identifier: GPL-2.0-or-later
// The wire format of ONNX (protocol buffers, https://protobuf.dev/programming-guides/encoding; field numbers from
// onnx.proto3 of ONNX 1.12): graph and shapes. Weights are skipped unread, files beside the model never opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/byte_stream.h"

namespace dlcast {

/// Of a tensor whose values are kept: sizes and axes are fewer.
inline constexpr std::size_t most_onnx_values = 64;

struct OnnxTensor {
    std::string name;
    std::vector<std::int64_t> shape;
    bool real = true;                                 // its numbers are, so that it may be learned
    std::optional<std::vector<std::int64_t>> values;  // of small whole-number tensors: shapes, axes
    std::optional<std::vector<double>> reals;         // of small tensors of real numbers: scales
};

struct OnnxAttribute {
    std::string name, text;
    std::int64_t integer = 0;
    double real = 0.0;
    std::vector<std::int64_t> integers;
    std::optional<OnnxTensor> tensor;
};

struct OnnxNode {
    std::string name, type, domain;
    std::vector<std::string> inputs, outputs;
    std::vector<OnnxAttribute> attributes;

    const OnnxAttribute* find(std::string_view attribute) const;
    std::int64_t integer_or(std::string_view attribute, std::int64_t standard) const;
    std::vector<std::int64_t> integers_or(std::string_view attribute, std::vector<std::int64_t> standard) const;
};

/// Of an input that the file leaves open; some exporters write it so.
constexpr std::int64_t open_dimension = -1;

struct OnnxInput {
    std::string name;
    std::vector<std::int64_t> shape;
};

struct OnnxGraph {
    std::string name;
    std::int64_t opset = 0;
    std::vector<OnnxNode> nodes;
    std::vector<OnnxTensor> initializers;
    std::vector<OnnxInput> inputs;
};

/// Whether a file may be ONNX: it starts with the field of the format's version or of the producer's name.
bool looks_like_onnx(std::string_view first_bytes);
/// Errors: cut off, malformed, no graph, more than 100,000 nodes, a graph (weights aside) of over 32 MiB.
Result<OnnxGraph> read_onnx(ByteStream& stream, const std::string& source);

}  // namespace dlcast
