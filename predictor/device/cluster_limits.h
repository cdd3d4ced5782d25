// SPDX-License-Identifier: GPL-2.0-or-later
// Which limit binds a job in a partition, and who may go there, in Slurm's own order.
#pragma once

#include <cstdint>
#include <string>

#include "predictor/device/cluster.h"

namespace dlcast {

/// A job's owner as Slurm's accounting will see the job. Empty: not known here.
struct Submitter {
    std::uint32_t uid = 0;
    std::string user, account, qos;
};
/// The account and QOS of the request where they are given, else the user's own defaults.
Submitter submitter_of(const Cluster& cluster, std::uint32_t uid, const std::string& account, const std::string& qos);

/// The longest run time and who set it; -1: no limit.
struct TimeCap {
    std::int64_t minutes = -1;
    std::string name;      // "partition a100 MaxTime", "QOS short MaxWall", "account vision MaxWall"
    std::string in_short;  // "partition's MaxTime"
};
/// The shorter of the partition's MaxTime and the accounting's MaxWall. Of the latter the first that is set counts: the
/// partition's QOS, the job's QOS (in front where it has OverPartQOS), the association. Source: acct_policy.c of Slurm.
TimeCap time_cap(const Cluster& cluster, const Partition& partition, const Submitter& who);

/// Why the partition does not admit the job; empty: nothing speaks against it.
std::string closed_to(const Partition& partition, const Submitter& who);

}  // namespace dlcast
