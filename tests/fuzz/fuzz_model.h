// SPDX-License-Identifier: GPL-2.0-or-later
// What all targets do with a declaration once it is read: what sbatch does.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "predictor/base/deadline.h"
#include "predictor/base/json.h"
#include "predictor/model/complete.h"
#include "predictor/model/formats.h"
#include "predictor/model/workload.h"

namespace dlcast::fuzz {

/// Layers, defaults, the payload and what `dlcast import` writes; none may crash, and both texts must read back, the
/// latter as the same layers.
inline void follow(const Declaration& declaration) {
    const Deadline deadline(std::chrono::milliseconds(500));
    const auto workload = to_workload(declaration);
    if (!workload) return;
    const auto payload = to_payload(declaration);
    if (payload && !parse_payload(*payload)) __builtin_trap();
    const auto whole = to_payload({complete(declaration, *workload), declaration.source});
    if (!whole) return;
    const auto read = parse_payload(*whole);
    if (!read) __builtin_trap();
    const auto again = to_workload(*read);
    if (!Deadline::passed() && (!again || again->model.parameters != workload->model.parameters)) __builtin_trap();
}

/// A JSON text as the content of a file; `change` may alter the tree first.
template <typename Change>
void follow_text(std::string_view text, Change&& change) {
    auto tree = parse_json(text, "fuzz.json");
    if (!tree) return;
    change(*tree);
    auto value = to_dlcast_json(std::move(*tree), "fuzz.json");
    if (value) follow({std::move(*value), "fuzz.json"});
}

}  // namespace dlcast::fuzz
