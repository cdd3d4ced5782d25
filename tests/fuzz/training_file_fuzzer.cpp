// SPDX-License-Identifier: GPL-2.0-or-later
// Trainings: DeepSpeed's, the Trainer's, and the text of --dl-train (what does not start with a brace).
#include "predictor/model/overrides.h"
#include "tests/fuzz/fuzz_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (!text.starts_with('{')) {
        dlcast::Declaration plain;
        plain.value.set("model", "resnet18");
        if (const auto changed = dlcast::with_training(plain, text, "--dl-train")) dlcast::fuzz::follow(*changed);
        return 0;
    }
    auto training = dlcast::parse_json(text, "fuzz.json");
    if (!training) return 0;
    dlcast::Value tree = dlcast::Value::object();
    tree.set("model", "resnet18");
    tree.set("training", std::move(*training));
    auto value = dlcast::to_dlcast_json(std::move(tree), "fuzz.json");
    if (value) dlcast::fuzz::follow({std::move(*value), "fuzz.json"});
    return 0;
}
