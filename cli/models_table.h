// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of measured whole models, with the forecasts that others published for them, and of the operators that each
// model consists of.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "cli/ops_table.h"
#include "predictor/timing/op_graph.h"

namespace dlcast {

/// Milliseconds of one pass; what was not measured, or not published, is absent.
struct PassTimes {
    std::optional<double> total_ms, forward_ms, backward_ms;
};

struct ModelsRow {
    std::string row_id, source, gpu, model, mode, unit;
    std::int64_t gpus = 1, seq_len = 0, image_size = 0, batch = 0, dataset_size = 0;
    std::string dtype, optimizer;
    bool training = false, fused = false;
    const Device* device = nullptr;  // owned by NamedDevices
    PassTimes measured;
    std::map<std::string, PassTimes> published;  // by predictor: "neusight", "habitat", "micro", "roofline", ...
    std::string fault;                           // why the row cannot be described; empty: it can
};

/// Reads END_TO_END. Columns: row_id, source, gpu, n_gpu, model, mode (inference, training), seq_len, image_size,
/// batch, dtype, optimizer, fused, unit (batch, epoch), dataset_size, measured time_ms, fw_ms, bw_ms, and of each other
/// predictor pred_NAME_ms, pred_NAME_fw_ms, pred_NAME_bw_ms; `gpu`, `model` and `batch` must be there. Errors:
/// unreadable file, broken CSV.
Status read_models(const std::string& path, NamedDevices& devices, const std::function<void(ModelsRow&&)>& use);

/// Operator lists by model, training, sequence length and batch size.
using OpGraphs = std::map<std::tuple<std::string, bool, std::int64_t, std::int64_t>, OpGraph>;

/// Reads OPGRAPHS. Columns: model, mode (inf, train), seqlen, batch_size, phase, graph_op, batch, m, k, n, rows, cols,
/// count; only rows of phase `forward` count, as backward follows from them. Errors: unreadable file, broken CSV, a
/// missing column.
Result<OpGraphs> read_op_graphs(const std::string& path);

}  // namespace dlcast
