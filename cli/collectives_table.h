// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of measured collectives: SETUPS, one machine set-up a row, and MEASURED, one size a row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/step/link_catalog.h"

namespace dlcast {

struct CollectiveSetup {
    std::string id, gpu, links;  // links: "PCIE4", "NVL_H100+EFA", for grouping
    /// Who measured on what: the id up to its first '_', and the GPU's family ("aws A100"). All tables of one site are
    /// left out together.
    std::string site;
    Fabric fabric;
    int nodes = 1, ranks_per_node = 1;
    bool healthy = true;
};

struct CollectiveRow {
    std::string setup_id, collective, dtype, size_bytes;  // verbatim
    const CollectiveSetup* setup = nullptr;
    std::optional<Collective> kind;
    double bytes = 0.0;
    std::optional<double> time_us;  // measured
    bool outlier = false;
    std::string fault;  // why the row cannot be described; empty: it can

    bool counts() const { return fault.empty() && time_us && !outlier && setup->healthy; }
};

struct CollectiveTables {
    std::map<std::string, CollectiveSetup> setups;
    std::vector<CollectiveRow> rows;
    std::vector<std::string> warnings;
};

/// SETUPS needs setup_id, gpus, nodes, gpus_per_node, intra, inter; reads p2p, intra_gbs_per_gpu_unidir,
/// net_gbs_per_node (or nics_per_node times nic_gbps), cpu, nccl, env, healthy where they are there. MEASURED needs
/// setup_id, collective, dtype, size_bytes; reads time_us and outlier. A row that cannot be described keeps its
/// `fault`. Where the GPUs are not nodes times GPUs per node, the GPUs per node follow from the other two. Errors:
/// unreadable or broken files, a missing column.
Result<CollectiveTables> read_collectives(const std::string& setups, const std::string& measured,
                                          const LinkCatalog& links);

}  // namespace dlcast
