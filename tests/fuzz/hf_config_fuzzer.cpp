// SPDX-License-Identifier: GPL-2.0-or-later
// A Hugging Face config.json; the first byte chooses its family, so that all are reached.
#include "predictor/model/hf_config.h"
#include "tests/fuzz/fuzz_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    static const std::vector<std::string> types = dlcast::hf_model_types();
    const std::string type = types[data[0] % types.size()];
    dlcast::fuzz::follow_text({reinterpret_cast<const char*>(data) + 1, size - 1}, [&](dlcast::Value& tree) {
        if (tree.is_object() && !tree.find("model")) tree.set("model_type", type);
    });
    return 0;
}
