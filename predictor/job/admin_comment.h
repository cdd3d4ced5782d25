// SPDX-License-Identifier: GPL-2.0-or-later
// The forecast as it stands in a job's AdminComment, from where accounting finds it again.
#pragma once

#include <optional>
#include <string>

#include "predictor/base/value.h"

namespace dlcast {

struct ForecastRecord {
    std::string id;
    std::string model;
    int gpus = 0, nodes = 0;  // 0 nodes: not told
    std::string gpu;          // catalog name
    std::string partition;
    std::optional<double> p50_s, p95_s;
    std::int64_t limit_s = -1;  // -1: none chosen
    std::int64_t asked_s = -1;  // the user's own limit; -1: none, 0: UNLIMITED
    bool on_cpu = false;        // `gpus` counts nodes, and `device_h` their hours
    std::optional<double> device_h;
    std::string by;       // torch or analytic
    std::string weights;  // id of those in force; empty where the analytic model stood in for them
};

/// {"v":1,"id":..,"model":..,"gpus":..,"nodes":..,"p50_s":..,"p95_s":..,"limit_s":..,"asked_s":..,"gpu_h":..,"by":..,
/// "weights":..}; whole seconds, a tenth of a GPU-hour, of less than one hour two digits; null where nothing is known.
/// On CPUs "node_h" stands in the place of "gpu_h".
Value to_value(const ForecastRecord& record);

/// The comment with {"dlcast": ..} added: a JSON object gains the key "dlcast" and keeps every other byte, other text
/// stays and ours follows after a space.
std::string add_to_comment(const std::string& existing, const ForecastRecord& record);

/// Twelve hexadecimal digits, different at each call and in each process.
std::string new_forecast_id();

}  // namespace dlcast
