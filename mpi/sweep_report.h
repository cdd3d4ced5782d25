// SPDX-License-Identifier: GPL-2.0-or-later
// What dlcast-sweep prints on rank 0.
#pragma once

#include "mpi/sweep.h"

namespace dlcast {

struct SweepResults {
    SweepResult layers, collectives, steps;
};

std::string sweep_text(const Ranks& ranks, const SweepResults& results, const std::vector<ProfiledModel>& models,
                       const SampleFile& file, const std::string& output);

}  // namespace dlcast
