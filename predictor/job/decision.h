// SPDX-License-Identifier: GPL-2.0-or-later
// From a request to a decision: the declared workload on every place that can hold it, and the best of them.
#pragma once

#include <memory>
#include <string>

#include "predictor/job/circuit_breaker.h"
#include "predictor/job/site_state.h"
#include "predictor/job/verdict.h"

namespace dlcast {

struct Outcome {
    std::shared_ptr<const Decision> decision;  // null: `verdict` stands
    Verdict verdict;
    std::string log;       // beside the decision
    bool may_keep = true;  // not where the analytic model stood in for the network
};

/// `state.site` is there. The network answers, or where it fails or `breaker` rests it, the analytic model.
Outcome decide(const SiteState& state, CircuitBreaker& breaker, const SubmitRequest& request);

}  // namespace dlcast
