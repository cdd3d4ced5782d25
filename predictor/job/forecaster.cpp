// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/forecaster.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "predictor/base/deadline.h"
#include "predictor/base/text.h"
#include "predictor/job/choice.h"
#include "predictor/job/circuit_breaker.h"
#include "predictor/job/gpu_request.h"
#include "predictor/job/possible_placements.h"
#include "predictor/job/site_state.h"
#include "predictor/job/verdict.h"
#include "predictor/step/step_anchor.h"

namespace dlcast {
namespace {

constexpr std::chrono::seconds reload_interval{1};
constexpr std::size_t large_job = 20'000;  // layers times partitions; the largest models of the zoo stay below
constexpr std::size_t most_misses = 3;     // reasons named in one message

struct Answer {
    std::vector<StepEstimate> steps;
    ForecastOrigin origin;
    std::string log;
};

// The network, unless it failed or was slow too often lately; then, and where it fails now, the analytic model.
Result<Answer> estimate(const SiteState& state, CircuitBreaker& breaker, const std::vector<StepQuery>& queries) {
    Answer out;
    if (state.model->by() != "analytic" && breaker.allows(std::chrono::steady_clock::now())) {
        auto steps = estimate_steps(queries, *state.model, state.steps);
        // A job of very many layers is slow by itself; that says nothing about the network.
        const bool slow =
            Deadline::passed() && queries.size() * queries.front().workload->model.layers.size() < large_job;
        if (steps && !slow)
            breaker.good();
        else if (breaker.bad(std::chrono::steady_clock::now()))
            out.log = fmt::format("the network {} {} times in a row; the analytic model answers for a minute",
                                  steps ? "was slow" : "failed", CircuitBreaker::strikes);
        if (steps) {
            out.steps = std::move(*steps);
            out.origin = {state.model->by(), state.model->weights_id()};
            return out;
        }
        // A layout that cannot be is the user's fault, whoever computes.
        if (steps.error().fault == Fault::invalid_argument) return steps.error();
        if (out.log.empty()) out.log = steps.error().message;
    }
    const auto analytic = make_analytic_model();
    auto steps = estimate_steps(queries, *analytic, state.steps);
    if (!steps) return steps.error();
    out.steps = std::move(*steps);
    out.origin = {analytic->by(), analytic->weights_id()};
    return out;
}

std::string reasons(const std::vector<std::string>& misses) {
    std::vector<std::string> shown(misses.begin(),
                                   misses.begin() + static_cast<std::ptrdiff_t>(std::min(misses.size(), most_misses)));
    if (misses.size() > most_misses) shown.push_back(fmt::format("and {} more", misses.size() - most_misses));
    return fmt::format("no partition can hold the job ({})", fmt::join(shown, "; "));
}

Verdict decide(const SiteState& state, CircuitBreaker& breaker, const SubmitRequest& request) {
    const SiteConfig& site = *state.site;
    const Deadline deadline{std::chrono::milliseconds(site.deadline_ms)};
    const auto declaration = parse_payload(request.payload);
    if (!declaration) return failure_verdict(site, declaration.error().message);
    const auto workload = to_workload(*declaration);
    if (!workload) return failure_verdict(site, workload.error().message);
    const auto gpus = read_gpu_request(request);
    if (!gpus) return failure_verdict(site, gpus.error().message);
    if (!*gpus) return no_gpu_verdict(site, *workload);
    if (!state.cluster)
        return failure_verdict(site, "the controller has no cluster file; the administrator runs dlcast sync");
    Placements placements = find_placements(*state.cluster, state.catalog, site, request, **gpus);
    const bool has_nodes = !placements.found.empty();
    if (const auto status = keep_possible(*workload, placements); !status)
        return failure_verdict(site, status.error().message);
    if (!has_nodes) return failure_verdict(site, reasons(placements.misses));
    std::vector<StepQuery> queries;
    for (const Placement& placement : placements.found) queries.push_back({&*workload, placement.allocation});
    if (Deadline::passed())
        return failure_verdict(
            site, fmt::format("the model took longer to read than deadline_ms {} allows", site.deadline_ms));
    auto answer = estimate(state, breaker, queries);
    if (!answer) return failure_verdict(site, answer.error().message);
    if (const auto status = anchor_steps(queries, state.catalog, state.steps, answer->steps); !status)
        return failure_verdict(site, status.error().message);
    add_input_waits(queries, site.input, answer->steps);
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < queries.size(); ++i)
        candidates.push_back(make_candidate(*workload, answer->steps[i], placements.found[i], site));
    const auto best = static_cast<std::size_t>(choose_candidate(candidates, placements.found, site.ranking));
    if (!candidates[best].job) return no_duration_verdict(site, *workload);
    Verdict verdict = verdict_of(*workload, candidates[best], placements.found[best], request, site, answer->origin);
    if (verdict.log.empty()) verdict.log = answer->log;
    return verdict;
}

}  // namespace

struct Forecaster::Impl {
    ForecasterPaths paths;
    std::atomic<std::shared_ptr<const SiteState>> state;
    std::mutex reload_mutex;
    std::chrono::steady_clock::time_point next_look;  // under reload_mutex
    std::vector<std::string> told_faults;             // under reload_mutex
    mutable CircuitBreaker breaker;
};

Forecaster::Forecaster(ForecasterPaths paths) : impl_(std::make_unique<Impl>()) {
    impl_->paths = std::move(paths);
    impl_->state = load_site(impl_->paths, nullptr);
    impl_->next_look = std::chrono::steady_clock::now() + reload_interval;
}

Forecaster::~Forecaster() = default;

std::vector<std::string> Forecaster::reload_if_changed() {
    const std::unique_lock lock(impl_->reload_mutex, std::try_to_lock);
    if (!lock) return {};  // another thread looks already
    std::shared_ptr<const SiteState> state = impl_->state.load();
    const auto now = std::chrono::steady_clock::now();
    if (now >= impl_->next_look) {
        impl_->next_look = now + reload_interval;
        if (is_outdated(*state)) {
            state = load_site(impl_->paths, state.get());
            impl_->state.store(state);
        }
    }
    std::vector<std::string> lines;
    for (const std::string& fault : state->faults)
        if (std::find(impl_->told_faults.begin(), impl_->told_faults.end(), fault) == impl_->told_faults.end())
            lines.push_back(fault);
    impl_->told_faults = state->faults;
    return lines;
}

Verdict Forecaster::submit(const SubmitRequest& request) const noexcept {
    Verdict failed;
    try {
        const std::shared_ptr<const SiteState> state = impl_->state.load();
        if (!state->site) return {};
        return decide(*state, impl_->breaker, request);
    } catch (const std::exception& e) {
        failed.log = std::string("no forecast: ") + e.what();
    } catch (...) {
        failed.log = "no forecast: unknown failure";
    }
    failed.log_is_error = true;
    return failed;
}

}  // namespace dlcast
