// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's lists of trackable resources: "billing=8,cpu=16,gres/gpu:a100=4,gres/gpu=4,node=1".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlcast {

/// GPUs, nodes and billing units of one list. `gpu` is the type where one is told, "a100+t4" where there are two.
struct JobTres {
    double gpus = 0.0, nodes = 0.0, billing = 0.0;
    std::string gpu;
};
JobTres parse_job_tres(std::string_view list);

/// Every item with its amount; suffixes k, m, g, t, p count by 1024. Items without an amount are passed over.
std::vector<std::pair<std::string_view, double>> parse_tres(std::string_view list);

}  // namespace dlcast
