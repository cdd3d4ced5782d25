// SPDX-License-Identifier: GPL-2.0-or-later
// What Keras writes; a class name is added where it is missing.
#include "tests/fuzz/fuzz_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    dlcast::fuzz::follow_text({reinterpret_cast<const char*>(data), size}, [](dlcast::Value& tree) {
        if (tree.is_object() && !tree.find("class_name")) tree.set("class_name", "Functional");
    });
    return 0;
}
