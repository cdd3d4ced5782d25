// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of measured operators: each row as an Operator on a Device, timed by a Clock.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/timing/layer_time_model.h"

namespace dlcast {

struct OpsRow {
    std::string rid, set, source, gpu, op_name;
    Operator op;
    const Device* device = nullptr;  // owned by NamedDevices
    Clock clock = Clock::call;
    std::optional<double> time_ms;  // measured, where the column is there and filled
    std::string fault;              // why the row cannot be described; empty: it can
};

/// Looks each name up once, and keeps the devices that rows point to.
class NamedDevices {
public:
    explicit NamedDevices(const DeviceCatalog& catalog) : catalog_(catalog) {}
    /// nullptr where the catalog does not know the name; `fault` then says why.
    const Device* find(const std::string& name, std::string& fault);

private:
    const DeviceCatalog& catalog_;
    std::map<std::string, Result<Device>> found_;
};

/// Reads FILE row by row. Columns: rid, set, source, gpu, framework, op, phase, optimizer, activation, dtype, batch, m,
/// k, n, in_ch, out_ch, in_hw, out_hw, ksize, stride, bias, rows, cols, vocab, time_ms, ctx; only `gpu` and `op` must
/// be there. A row that names an unknown GPU or operator, or lacks sizes, still reaches `use`, with its `fault`.
/// `time_ms` decides nothing but `OpsRow::time_ms`. Errors: unreadable file, broken CSV.
Status read_ops(const std::string& path, NamedDevices& devices, const std::function<void(OpsRow&&)>& use);

}  // namespace dlcast
