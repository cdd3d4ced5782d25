// SPDX-License-Identifier: GPL-2.0-or-later
// Layers written out, and lists of numbered layers.
#include "tests/fuzz/fuzz_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    dlcast::fuzz::follow_text({reinterpret_cast<const char*>(data), size}, [](dlcast::Value&) {});
    return 0;
}
