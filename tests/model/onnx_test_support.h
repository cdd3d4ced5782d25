// SPDX-License-Identifier: GPL-2.0-or-later
// ONNX files as the workloads that a job would declare with them.
#pragma once

#include <string>

#include "model_test_support.h"
#include "onnx_writer.h"
#include "predictor/model/onnx.h"

inline dlcast::Result<dlcast::Workload> read_onnx_model(const std::string& file) {
    using namespace dlcast;
    ByteStream stream(file);
    auto model = onnx_to_written(stream, "net.onnx");
    if (!model) return model.error();
    Declaration declaration;
    declaration.source = "net.onnx";
    declaration.value.set("model", std::move(*model));
    const auto payload = to_payload(declaration);
    if (!payload) return payload.error();
    const auto again = parse_payload(*payload);
    if (!again) return again.error();
    return to_workload(*again);
}

inline dlcast::Workload good(const std::string& file) {
    const auto workload = read_onnx_model(file);
    if (!workload) FAIL(workload.error().message);
    return *workload;
}

inline std::string error_of_file(const std::string& file) {
    const auto workload = read_onnx_model(file);
    return workload ? "" : workload.error().message;
}
