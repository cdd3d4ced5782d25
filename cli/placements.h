// SPDX-License-Identifier: GPL-2.0-or-later
// Where the devices of a command line could stand: on the site's partitions, or on nodes of the usual size.
#pragma once

#include <string>
#include <vector>

#include "cli/prediction.h"
#include "predictor/base/value.h"

namespace dlcast {

/// The partitions of a list as people write it (-p), in its order and as they stand; of an empty list all that are up
/// and admit whoever asks.
struct SitePartitions {
    std::vector<const Partition*> taken;
    std::vector<std::string> left_out;  // "partition gold: admits other QOS only"
};
/// Errors: no cluster file, a name that it does not have.
Result<SitePartitions> site_partitions(const std::string& list, const PredictSite& site);

/// What speaks against partitions of the list although they are taken: "partition gold: is down; ...".
std::vector<std::string> named_but_closed(const std::string& list, const PredictSite& site);

/// Do --gpus divide over --nodes?
Status check_counts(const PredictOptions& options);

/// Where the devices of `options` could stand, on the site's partitions or, for a GPU by name, on usual nodes. Nodes
/// without GPUs are one device each where the site says which ([gpu_names] cpu), as for the plugin. Errors: those of
/// site_partitions, GPUs that do not divide over nodes, no place.
Result<Placements> placements_of(const PredictOptions& options, const PredictSite& site);

/// Of places side by side: "GPU-hours", "node-hours" where all are CPUs, "GPU- or node-hours".
const char* hours_name(const std::vector<Placement>& places);
/// What is counted there: "GPUs", "CPUs" where all are, "GPUs or CPUs".
const char* devices_name(const std::vector<Placement>& places);
/// Sets "gpu_hours" and "node_hours": the one that belongs to the place, the other null.
void set_hours(Value& entry, const Placement& place, double hours);

bool has_gpus(const Partition& partition);
/// The most devices one kind of its nodes has: GPUs, or of a partition without GPUs nodes.
int most_devices(const Partition& partition);
/// GPUs by name, each once whatever its names; one that nobody knows stays, to be told where it is looked up.
std::vector<std::string> distinct_gpus(const std::vector<std::string>& names, const DeviceCatalog& catalog);
/// Why these partitions without GPUs have no forecast, with the remedy; empty: the site names the device of their CPUs.
std::string missing_cpu(const std::vector<std::string>& partitions, const SiteConfig& site);

}  // namespace dlcast
