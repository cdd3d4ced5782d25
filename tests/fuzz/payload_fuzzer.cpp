// SPDX-License-Identifier: GPL-2.0-or-later
// A payload in slurmctld: it may be forged.
#include "tests/fuzz/fuzz_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto declaration = dlcast::parse_payload({reinterpret_cast<const char*>(data), size});
    if (declaration) dlcast::fuzz::follow(*declaration);
    return 0;
}
