// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm's commands print, as a Cluster. Seen on Slurm 22.05; later versions add keys, which are passed over.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "predictor/device/cluster.h"

namespace dlcast {

/// The output of four commands; `qos` may be empty (a site without accounting).
struct SlurmOutput {
    std::string partitions;  // scontrol --all show partition --oneliner
    std::string nodes;       // scontrol --all show node --oneliner
    std::string config;      // scontrol show config
    std::string qos;         // sacctmgr --parsable2 show qos format=Name,MaxWall
};

/// Partitions with their nodes grouped by kind; a node with GPUs of two types stands in two groups. Nodes that Slurm
/// does not show (powered-down cloud nodes) are told from the partition's totals, with a warning. Errors: a partition
/// without the fields every Slurm prints, as in output that was cut off.
Result<Cluster> cluster_from_slurm(const SlurmOutput& output, std::vector<std::string>& warnings);

/// "gpu:a100:4(S:0-1),gpu:t4:2,shard:8" -> a100 4, t4 2; a type that is not told is `untyped_gpu`.
std::vector<std::pair<std::string, int>> gpus_of_gres(std::string_view gres);

/// One line of `--oneliner` output. Values may hold spaces ("OS=Linux 6.1 #1 SMP"); of a key that stands twice the
/// first counts, since free text (Reason=) comes last.
std::map<std::string, std::string> slurm_record(std::string_view line);

}  // namespace dlcast
