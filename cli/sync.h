// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast sync`: partitions, nodes and limits of the running Slurm, into the cluster file the plugin reads.
#pragma once

#include <string>

#include "cli/slurm_output.h"

namespace dlcast {

/// The output of Slurm's commands, run now. A site that has slurmdbd must reach it: without its limits a file that is
/// there would be replaced by a laxer one.
Result<SlurmOutput> ask_slurm(std::vector<std::string>& warnings);

/// The same from files of an earlier run: scontrol-partition.txt, scontrol-node.txt, scontrol-config.txt, and
/// sacctmgr-qos.txt, -assoc.txt and -user.txt, sshare.txt and squeue.txt where they are there.
Result<SlurmOutput> read_slurm_output(const std::string& folder);

}  // namespace dlcast
