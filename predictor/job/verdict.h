// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm and the user are told, by the site's mode.
#pragma once

#include <string>

#include "predictor/job/candidates.h"

namespace dlcast {

/// Who made the numbers.
struct ForecastOrigin {
    std::string by;       // torch or analytic
    std::string weights;  // id
};

/// A forecast that was made, with all that a verdict needs: small enough to be kept.
struct Decision {
    Workload workload;    // its layers are gone
    Candidate candidate;  // its step has no layers
    Placement placement;
    ForecastOrigin origin;
};

/// Does the site refuse a job that no limit or no memory holds?
bool refuses(const Candidate& candidate, const SiteConfig& site);

/// What the decision means for one request; a declaration without a duration is told so.
Verdict verdict_of(const Decision& decision, const SubmitRequest& request, const SiteConfig& site);

/// No forecast could be made: the job passes as it was written, or is refused where the site says so.
Verdict failure_verdict(const SiteConfig& site, Verdict::Fault fault, const std::string& reason);

/// The job asks for no GPU: it passes, and the user is told.
Verdict no_gpu_verdict(const SiteConfig& site, const Workload& workload);

/// The declaration gives no duration: refused in enforce mode, said otherwise.
Verdict no_duration_verdict(const SiteConfig& site, const Workload& workload);

}  // namespace dlcast
