// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm's commands print, as a Cluster. Seen on Slurm 22.05; later versions add keys, which are passed over.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/slurm_accounting.h"
#include "predictor/device/cluster.h"

namespace dlcast {

/// The output of eight commands; the last five may be empty (a site without accounting, or without budgets).
struct SlurmOutput {
    std::string partitions;  // scontrol --all show partition --oneliner
    std::string nodes;       // scontrol --all show node --oneliner
    std::string config;      // scontrol show config
    std::string qos;         // sacctmgr --parsable2 show qos format=Name,MaxWall,Flags
    // sacctmgr --parsable2 show assoc format=Account,ParentName,User,Partition,MaxWall,DefaultQOS,GrpTRESMins
    std::string associations;
    std::string users;   // sacctmgr --parsable2 show user format=User,DefaultAccount
    std::string shares;  // sshare --all --parsable2 --format=Account,User,Partition,FairShare,LevelFS,GrpTRESRaw
    std::string queue;   // squeue, as `dlcast forecast` reads it (squeue_command)
};

/// Partitions with their nodes grouped by kind; a node with GPUs of two types stands in two groups. Nodes that Slurm
/// does not show (powered-down cloud nodes) are told from the partition's totals, with a warning. Errors: a partition
/// without the fields every Slurm prints, as in output that was cut off. `names` tells the members of AllowGroups and
/// the uids of users; budgets are as of `now_s`.
Result<Cluster> cluster_from_slurm(const SlurmOutput& output, std::vector<std::string>& warnings,
                                   const NameService& names = {}, std::int64_t now_s = 0);

/// The value of a key of `scontrol show config`; empty where it is not there or "(null)".
std::string config_value(std::string_view config, std::string_view key);

/// Does Slurm keep account of what associations use? Without priority/multifactor sshare says 0 of everything.
bool counts_use(std::string_view config);

/// "gpu:a100:4(S:0-1),gpu:t4:2,shard:8" -> a100 4, t4 2; a type that is not told is `untyped_gpu`.
std::vector<std::pair<std::string, int>> gpus_of_gres(std::string_view gres);

/// One line of `--oneliner` output. Values may hold spaces ("OS=Linux 6.1 #1 SMP"); of a key that stands twice the
/// first counts, since free text (Reason=) comes last.
std::map<std::string, std::string> slurm_record(std::string_view line);

}  // namespace dlcast
