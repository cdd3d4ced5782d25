// SPDX-License-Identifier: GPL-2.0-or-later
// What can be measured: an operator, a collective, a part of a model's step. A timing sample holds one of these, and so
// does a line of a plan.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "predictor/base/reader.h"
#include "predictor/base/result.h"
#include "predictor/step/nccl_fabric.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// One collective over all ranks.
struct MeasuredCollective {
    Collective collective = Collective::all_reduce;
    std::uint64_t bytes = 0;  // the whole array, as nccl-tests counts (nccl_model.h)
    int ranks = 1, nodes = 1;
    std::string library;  // "nccl" or "mpi"

    bool operator==(const MeasuredCollective&) const = default;
};

/// A part of a whole model's step, or all of it.
enum class Pass { forward, backward, update, step };
const char* to_string(Pass pass);

struct MeasuredPass {
    std::string model;       // as it was named: a zoo name or a file
    std::int64_t batch = 0;  // samples a rank
    Pass pass = Pass::forward;
    bool training = true;  // forward keeps what backward needs
    Precision precision = Precision::fp32;
    Optimizer optimizer = Optimizer::none;  // of update and step
    int ranks = 1, nodes = 1;               // step: data parallel, gradients all-reduced in buckets
    std::uint64_t bucket_bytes = 0;         // 0: nothing is exchanged

    bool operator==(const MeasuredPass&) const = default;
};

/// What a sample is of. An Operator is one call, as lowering.h makes them of layers.
using SamplePoint = std::variant<Operator, MeasuredCollective, MeasuredPass>;

/// Of all fields, for tables of distinct points.
std::size_t hash_of(const SamplePoint& point);

/// Sets the member that names the point: "operator", "collective" or "pass".
void put_point(Value& object, const SamplePoint& point);

/// Reads that member of the object behind `r` (`root`), strictly. Errors: place, fault, remedy; not exactly one of the
/// three.
Result<SamplePoint> read_point(ObjectReader& r, const Value& root, const std::string& source);

inline constexpr std::size_t longest_line = 64u << 10;  // bytes, of these files

/// An object that was parsed from one line of a file, with places in that line. Errors: not JSON, over 64 KiB.
Result<Value> parse_json_line(std::string_view text, const std::string& source, int line);

/// Calls `use(text, line)` for each line that is not empty, up to its first error. Errors: an unreadable file, a line
/// over 64 KiB, more than 10 million lines.
Status for_each_line(const std::string& path, const std::function<Status(std::string_view, int)>& use);

/// A path as messages show it, on one line.
std::string shown_path(const std::string& path);

/// A plan of what to measure: one object a line with one of the three members. `dlcast calibrate` writes plans,
/// `dlcast-profile --plan` measures them. Errors as above; a plan has at most `most_plan_points`: with the shortest
/// time that a point takes, an hour and a half.
inline constexpr std::size_t most_plan_points = 100'000;
std::string to_plan_line(const SamplePoint& point);
Result<SamplePoint> parse_plan_line(std::string_view text, const std::string& source, int line);
Result<std::vector<SamplePoint>> read_plan(const std::string& path);

}  // namespace dlcast
