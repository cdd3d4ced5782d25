// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of measured training steps: each row as a workload on an allocation.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "predictor/base/result.h"
#include "predictor/device/catalog.h"
#include "predictor/device/cluster.h"
#include "predictor/model/workload.h"

namespace dlcast {

struct StepsRow {
    std::map<std::string, std::string> fields;  // by column; measured columns are not among them
    std::optional<double> step_ms;              // measured, where the column is there and filled
    Workload workload;
    Allocation allocation;
    std::string fault;  // why the row cannot be described; empty: it can

    const std::string& field(const std::string& column) const;  // empty where there is no such column
};

/// Reads FILE row by row. Columns: row_id, group, source, model, family, gpu, gpus, nodes, gpus_per_node, intra, inter,
/// nics_per_node, nic_gbps, precision, batch_per_gpu, grad_accum, seq_len, image_size, mode, optimizer, parallel, dp,
/// act_ckpt_mode, framework, compiled, layout, quality, note; row_id, model, gpu and batch_per_gpu must be there.
/// `model` is a zoo name or a path relative to FILE's folder. A row that cannot be described still reaches `use`, with
/// its `fault`. Errors: unreadable file, broken CSV.
Status read_steps(const std::string& path, const DeviceCatalog& catalog, const std::function<void(StepsRow&&)>& use);

/// "none", "ddp", "fsdp", "fsdp(shard_grad_op)", "dp=2,tp=4,sp=1": degrees of parallelism. Error: an unknown word or
/// number.
Result<Parallel> parse_parallel(const std::string& text);

/// The links a row names: kind between GPUs, kind between nodes with adapters and their rate. Unknown kinds fall back
/// on the device's own link and on one 100 Gb/s adapter a node.
void set_row_links(Allocation& allocation, const std::string& intra, const std::string& inter, double nics_per_node,
                   double nic_Gbps);

}  // namespace dlcast
