// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/decision.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/deadline.h"
#include "predictor/base/text.h"
#include "predictor/job/choice.h"
#include "predictor/job/gpu_request.h"
#include "predictor/job/possible_placements.h"
#include "predictor/step/distinct_queries.h"
#include "predictor/step/input_pipeline.h"
#include "predictor/step/step_anchor.h"
#include "predictor/step/step_totals.h"

namespace dlcast {
namespace {

constexpr std::size_t large_job = 20'000;  // layers times partitions; the largest models of the zoo stay below
constexpr std::size_t most_misses = 3;     // reasons named in one message

/// All places of a workload, estimated and judged.
struct Judged {
    std::vector<Candidate> candidates;
    ForecastOrigin origin;
    std::string log;
    bool may_keep = true;
};

bool contains(const std::vector<std::size_t>& list, std::size_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

// The network, unless it failed or was slow too often lately; then, and where it fails now, the constants stand alone.
class Judge {
public:
    Judge(const SiteState& state, CircuitBreaker& breaker, const Workload& workload,
          const std::vector<Placement>& placements, Ranking ranking)
        : state_(state), breaker_(breaker), workload_(workload), placements_(placements), ranking_(ranking) {}

    Result<Judged> judge() {
        std::vector<StepQuery> queries;
        queries.reserve(placements_.size());
        for (const Placement& placement : placements_) queries.push_back({&workload_, placement.allocation});
        DistinctQueries distinct = distinct_queries(queries);
        step_of_ = std::move(distinct.places);
        auto totals = StepTotals::make(std::move(distinct.queries), state_.steps);
        if (!totals) return totals.error();
        out_.origin = {"analytic", ""};
        const bool has_network = state_.model->by() == "torch";
        const bool rests = has_network && totals->takes_network() && !breaker_.allows(std::chrono::steady_clock::now());
        if (!has_network || rests) {
            out_.may_keep = !rests;
            totals->spread_all();
            if (auto s = make_candidates(*totals); !s) return s.error();
            return out_;
        }
        if (auto s = make_candidates(*totals); !s) return s.error();
        if (auto s = ask_network(*totals); !s) return s.error();
        return out_;
    }

private:
    Status make_candidates(const StepTotals& totals) {
        std::vector<StepEstimate> steps = totals.steps();
        if (auto s = anchor_steps(totals.queries(), state_.catalog, state_.steps, steps); !s) return s;
        add_input_waits(totals.queries(), state_.site->input, steps);
        out_.candidates.clear();
        for (std::size_t i = 0; i < placements_.size(); ++i)
            out_.candidates.push_back(make_candidate(workload_, steps[step_of_[i]], placements_[i], *state_.site));
        return ok();
    }

    // The steps of candidates, each once.
    std::vector<std::size_t> steps_of(const std::vector<std::size_t>& candidates) const {
        std::vector<std::size_t> out;
        for (const std::size_t i : candidates)
            if (!contains(out, step_of_[i])) out.push_back(step_of_[i]);
        return out;
    }

    // Of those that may win, then of whoever wins after that; who wins in the end gets its spread.
    Status ask_network(StepTotals& totals) {
        std::vector<std::size_t> drawn, spread;
        std::vector<std::size_t> next =
            steps_of(contenders(out_.candidates, placements_, ranking_, StepTotals::most_drawn));
        while (!next.empty()) {
            if (auto s = totals.draw(next, *state_.model); !s) {
                note_trouble("failed");
                out_.may_keep = false;
                if (out_.log.empty()) out_.log = s.error().message;
                totals.spread_all();
                return make_candidates(totals);
            }
            drawn.insert(drawn.end(), next.begin(), next.end());
            next.clear();
            if (auto s = make_candidates(totals); !s) return s;
            for (auto best = best_step(); next.empty() && !contains(spread, best); best = best_step()) {
                if (!contains(drawn, best)) {
                    next.push_back(best);
                    continue;
                }
                totals.spread({best});
                spread.push_back(best);
                if (auto s = make_candidates(totals); !s) return s;
            }
        }
        // The constants that stand beside the network are of the same weights.
        const bool by_network = totals.by_network(best_step());
        out_.origin = {by_network ? "torch" : "analytic", state_.model->weights_id()};
        if (!by_network) return ok();
        // A job of very many layers is slow by itself; that says nothing about the network.
        if (Deadline::passed() && placements_.size() * workload_.model.layers.size() < large_job)
            note_trouble("was slow");
        else if (breaker_.good())
            out_.log = "the network answers again";
        return ok();
    }

    std::size_t best_step() const {
        return step_of_[static_cast<std::size_t>(choose_candidate(out_.candidates, placements_, ranking_))];
    }

    void note_trouble(const char* what) {
        if (const int in_a_row = breaker_.bad(std::chrono::steady_clock::now()); in_a_row > 0)
            out_.log = fmt::format("the network {} {} times in a row; the analytic model answers for a minute", what,
                                   in_a_row);
    }

    const SiteState& state_;
    CircuitBreaker& breaker_;
    const Workload& workload_;
    const std::vector<Placement>& placements_;
    Ranking ranking_;
    std::vector<std::size_t> step_of_;  // of each placement, among the totals'
    Judged out_;
};

// Of deadline_ms. What was made has to be freed too, and what began goes on to its next look at the clock; layers whose
// reading took half of the time are met several times after that.
constexpr int parts = 10, reading_parts = 5, all_parts = 8;
std::chrono::nanoseconds part_of(int deadline_ms, int count) {
    return std::chrono::nanoseconds(std::chrono::milliseconds(deadline_ms)) * count / parts;
}

Result<Workload> read_workload(const std::string& payload, std::chrono::nanoseconds allowed) {
    const Deadline deadline{allowed};
    const auto declaration = parse_payload(payload);
    if (!declaration) return declaration.error();
    auto workload = to_workload(*declaration);
    if (workload && Deadline::passed()) return unavailable("its layers take all the time a submission may");
    return workload;
}

std::string reasons(const std::vector<std::string>& misses) {
    std::vector<std::string> shown(misses.begin(),
                                   misses.begin() + static_cast<std::ptrdiff_t>(std::min(misses.size(), most_misses)));
    if (misses.size() > most_misses) shown.push_back(fmt::format("and {} more", misses.size() - most_misses));
    return fmt::format("no partition can hold the job ({})", fmt::join(shown, "; "));
}

// A job without GPUs, where the site has named its CPU: each node is one device.
std::optional<GpuRequest> on_nodes_alone(const SubmitRequest& request) {
    if (request.min_nodes > 1'000'000) return std::nullopt;
    GpuRequest out;
    out.on_cpu = true;
    out.gpus = out.nodes = out.max_nodes = static_cast<int>(std::max<std::int64_t>(1, request.min_nodes));
    out.gpus_per_node = 1;
    return out;
}

// "; partition t4 would hold it", of those that the user did not name.
std::string elsewhere(const SiteState& state, const Workload& workload, SubmitRequest request, const GpuRequest& gpus) {
    request.partition.clear();
    Placements placements = find_placements(*state.cluster, state.catalog, *state.site, request, gpus);
    if (placements.found.empty() || !keep_possible(workload, placements) || Deadline::passed()) return "";
    std::vector<StepQuery> queries;
    for (const Placement& placement : placements.found) queries.push_back({&workload, placement.allocation});
    const auto totals = StepTotals::make(std::move(queries), state.steps);
    if (!totals) return "";
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < placements.found.size(); ++i)
        candidates.push_back(make_candidate(workload, totals->steps()[i], placements.found[i], *state.site));
    const auto best = static_cast<std::size_t>(choose_candidate(candidates, placements.found, state.site->ranking));
    if (!candidates[best].fits_time || !candidates[best].fits_memory) return "";
    return fmt::format("; partition {} would hold it", candidates[best].allocation.partition);
}

}  // namespace

Outcome decide(const SiteState& state, CircuitBreaker& breaker, const SubmitRequest& request) {
    const SiteConfig& site = *state.site;
    using Because = Verdict::Fault;
    const auto failed = [&](Because fault, const std::string& reason) {
        return Outcome{nullptr, failure_verdict(site, fault, reason), ""};
    };
    const Deadline deadline{part_of(site.deadline_ms, all_parts)};
    auto workload = read_workload(request.payload, part_of(site.deadline_ms, reading_parts));
    if (!workload) return failed(Because::no_forecast, workload.error().message);
    auto gpus = read_gpu_request(request);
    if (!gpus) return failed(Because::gpu_request, gpus.error().message);
    if (!*gpus && state.has_cpu) *gpus = on_nodes_alone(request);
    if (!*gpus) return {nullptr, no_gpu_verdict(site, *workload), ""};
    if (!state.cluster)
        return failed(Because::no_forecast, "the controller has no cluster file; the administrator runs dlcast sync");
    Placements placements = find_placements(*state.cluster, state.catalog, site, request, **gpus);
    if (placements.found.empty()) return failed(Because::no_place, reasons(placements.misses));
    if (const auto status = keep_possible(*workload, placements); !status)
        return failed(Because::no_place, status.error().message);
    if (Deadline::passed())
        return failed(Because::no_forecast,
                      fmt::format("the model took longer to read than deadline_ms {} allows", site.deadline_ms));
    const Ranking ranking = request.names_nodes ? Ranking::slowest : site.ranking;
    auto judged = Judge(state, breaker, *workload, placements.found, ranking).judge();
    if (!judged) return failed(Because::no_forecast, judged.error().message);
    std::vector<Candidate>& candidates = judged->candidates;
    const auto best = static_cast<std::size_t>(choose_candidate(candidates, placements.found, ranking));
    if (candidates[best].job && !candidates[best].fits_time && !request.names_nodes && !trim(request.partition).empty())
        candidates[best].reason += elsewhere(state, *workload, request, **gpus);
    workload->model.layers.clear();
    workload->model.layers.shrink_to_fit();
    auto decision = std::make_shared<Decision>(Decision{std::move(*workload), std::move(candidates[best]),
                                                        std::move(placements.found[best]), std::move(judged->origin)});
    return {std::move(decision), {}, std::move(judged->log), judged->may_keep};
}

}  // namespace dlcast
