// SPDX-License-Identifier: GPL-2.0-or-later
// An ONNX file.
#include "predictor/model/onnx.h"
#include "tests/fuzz/fuzz_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const dlcast::Deadline deadline(std::chrono::milliseconds(500));
    dlcast::ByteStream stream(std::string_view(reinterpret_cast<const char*>(data), size));
    auto model = dlcast::onnx_to_written(stream, "fuzz.onnx");
    if (!model) return 0;
    dlcast::Declaration declaration;
    declaration.source = "fuzz.onnx";
    declaration.value.set("model", std::move(*model));
    dlcast::fuzz::follow(declaration);
    return 0;
}
