// SPDX-License-Identifier: GPL-2.0-or-later
// TimingSamples of a site, sorted by what they are refined into.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "predictor/device/catalog.h"
#include "predictor/samples/timing_sample.h"
#include "predictor/step/refined_collective.h"
#include "predictor/timing/measured_group.h"

namespace dlcast {

struct SampledTime {
    double time_s = 0.0, fastest_s = 0.0, slowest_s = 0.0;  // the median and the extremes
    std::string id{};                                       // hash of the whole sample
    std::string place{};                                    // "samples.jsonl:3"
};

struct SampledCall : SampledTime {
    Operator op;
    Clock clock = Clock::kernel;
};

struct SampledPass : SampledTime {
    std::string gpu;
    MeasuredPass pass;
};

struct SampledCollective : SampledTime {
    std::string gpu;
    MeasuredCollective point;
};

struct SiteSamples {
    std::map<std::string, Device> devices;  // that were measured, by catalog key
    std::map<std::pair<std::string, OperatorGroup>, std::vector<SampledCall>> calls;  // by device and group
    std::vector<SampledCollective> collectives;  // of any number of bytes, over ranks that the nodes divide
    std::vector<SampledPass> passes;
    std::size_t read = 0, copies = 0;                     // all, and those that an equal one stands for
    std::map<OperatorKind, std::size_t> without_network;  // calls that no network knows, such as fused attention
    std::map<std::string, std::size_t> too_fast;          // calls and steps left out as such (doubtful_samples.h)
};

/// Reads files of dlcast-profile and dlcast-sweep. Of samples that are equal in all they say, one counts. Errors: those
/// of read_timing_samples; a model in the place of samples, with the remedy; a device that the catalog does not know,
/// with the file that its entry stands in; a collective whose ranks its nodes do not divide.
Result<SiteSamples> read_site_samples(const std::vector<std::string>& files, const DeviceCatalog& catalog);

/// By collective and group, sizes ascending, each with the median of its samples.
std::vector<RefinedCollective> tables_of(const std::vector<SampledCollective>& samples);

}  // namespace dlcast
