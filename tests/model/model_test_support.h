// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "predictor/model/workload.h"

/// The workload of a JSON text, as a payload would carry it.
inline dlcast::Result<dlcast::Workload> workload_of(const std::string& json,
                                                    const dlcast::WorkloadOverrides& overrides = {}) {
    auto declaration = dlcast::parse_payload(json);
    if (!declaration) return declaration.error();
    return dlcast::to_workload(*declaration, overrides);
}

inline dlcast::Workload good_workload(const std::string& json) {
    auto workload = workload_of(json);
    INFO(json);
    if (!workload) FAIL(workload.error().message);
    return *workload;
}

inline dlcast::Workload zoo_workload(const std::string& name) { return good_workload("{\"model\": \"" + name + "\"}"); }

inline std::string error_of(const std::string& json) {
    const auto workload = workload_of(json);
    return workload ? "" : workload.error().message;
}

/// Fails the test where there is no such layer.
inline const dlcast::Layer& layer_named(const dlcast::Workload& workload, const std::string& name) {
    for (const dlcast::Layer& layer : workload.model.layers)
        if (layer.name == name) return layer;
    FAIL("no layer " << name);
    return workload.model.layers.front();
}
