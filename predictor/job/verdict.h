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

/// A forecast was made for `candidate` on `placement`.
Verdict verdict_of(const Workload& workload, const Candidate& candidate, const Placement& placement,
                   const SubmitRequest& request, const SiteConfig& site, const ForecastOrigin& origin);

/// No forecast could be made: the job passes as it was written, or is refused where the site says so.
Verdict failure_verdict(const SiteConfig& site, const std::string& reason);

/// The job asks for no GPU: it passes, and the user is told.
Verdict no_gpu_verdict(const SiteConfig& site, const Workload& workload);

/// The declaration gives no duration: refused in enforce mode, said otherwise.
Verdict no_duration_verdict(const SiteConfig& site, const Workload& workload);

}  // namespace dlcast
