// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast refine`: weights adapted to a site by its measurements and its finished jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/accounting_sources.h"
#include "cli/refined_part.h"
#include "cli/say.h"
#include "predictor/job/site_config.h"

namespace dlcast {

struct RefineOptions {
    std::vector<std::string> samples;  // files of dlcast-profile and dlcast-sweep
    bool jobs = false;                 // finished jobs, from `accounting`
    AccountingOptions accounting;
    std::string weights;        // directory to start from, refined before or not
    std::string out;            // link to publish
    std::string module_path;    // dlcast_torch.so
    std::string entries_file;   // that the site's own devices stand in, for messages
    std::size_t fit_sizes = 8;  // of each table of collectives
    bool force = false;         // publish what became worse as well, or drops what `out` holds
    Say say;                    // what is left out and why, as it is found
};

struct Refined {
    RefinedErrors errors;   // of the kinds that were refined
    RefinedErrors left;     // of those that would have become worse: they stay as they were
    RefinedErrors far_off;  // of those whose forecasts would still be far off, which are never published
    KnownParts known;       // that the weights were refined by before, by these very samples
    std::string id;         // of the weights published
    bool published = true;  // false: the weights know all of the samples that would not make them worse
    bool waiting = false;   // `out` holds these very weights already, and is not what was started from
};

/// Refines, judges on what was held out, publishes the kinds of each GPU whose held-out error does not rise (all, if
/// `force`) and whose forecasts are then off by less than a factor of three on average. Errors: files; nothing to
/// refine by; no kind is left, or one that `out` holds would be dropped without `force` (then nothing is published); an
/// unwritable place. `out` is held from before `weights` is read.
Result<Refined> refine(const RefineOptions& options, const DeviceCatalog& catalog);

/// The kinds that got worse, as a sentence; empty where none did.
std::string worse_kinds(const RefinedErrors& errors);
/// The kinds that are still far off, as a sentence with what to check.
std::string far_off_kinds(const RefinedErrors& errors);

}  // namespace dlcast
