// SPDX-License-Identifier: GPL-2.0-or-later
// Traces of jobs: sacct's output, or the Standard Workload Format of the Parallel Workloads Archive.
#pragma once

#include <map>
#include <string>

#include "cli/accounting_sources.h"
#include "predictor/accounting/scenario.h"

namespace dlcast {

enum class TraceFormat { sacct, swf };

struct Trace {
    TraceFormat format = TraceFormat::sacct;
    std::map<std::string, TracePool> pools;  // by partition; SWF has one, named ""
    std::size_t left_out = 0;                // jobs that never ran, have no GPU, or rows that are none
};

/// By content: a line of names is sacct's. SWF takes its size from the comment MaxProcs (else MaxNodes); sacct's
/// partitions are as large as the most that ran at once. Only partitions that `options` asks for. Errors: unreadable; a
/// row of SWF without its 18 numbers; no job at all.
Result<Trace> read_trace(const std::string& path, const AccountingOptions& options, Calendar& calendar);

}  // namespace dlcast
