// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/forecaster.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "predictor/base/text.h"
#include "predictor/job/budget_check.h"
#include "predictor/job/circuit_breaker.h"
#include "predictor/job/counters.h"
#include "predictor/job/decision.h"
#include "predictor/job/forecast_cache.h"
#include "predictor/job/site_state.h"
#include "predictor/job/verdict.h"

namespace dlcast {
namespace {

constexpr std::chrono::seconds reload_interval{1};
constexpr std::chrono::seconds status_interval{10};

std::int64_t now_s() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// Limits and nodes change; a file that nobody renews is worth a line.
std::string stale_cluster(const SiteState& state) {
    if (!state.site || !state.cluster || state.cluster->synced_at_s == 0 || state.site->cluster_max_age_h == 0)
        return "";
    if (now_s() - state.cluster->synced_at_s <= std::int64_t{3600} * state.site->cluster_max_age_h) return "";
    return fmt::format("{} is older than {} hours (cluster_max_age_h); run dlcast sync, from cron for example",
                       state.site->cluster_file, state.site->cluster_max_age_h);
}

Verdict verdict_on(const SiteState& state, const Decision& decision, const SubmitRequest& request) {
    Verdict out = verdict_of(decision, request, *state.site);
    if (state.cluster) check_budget(decision, request, *state.site, *state.cluster, now_s(), out);
    return out;
}

Verdict answer_to(const SiteState& state, CircuitBreaker& breaker, Counters& counters, const SubmitRequest& request) {
    std::string key = forecast_key(request);
    const auto made = [&counters](const Decision& decision) {
        counters.add(decision.origin.by == "torch" ? Count::torch : Count::analytic);
    };
    if (const auto known = state.forecasts->find(key)) {
        counters.add(Count::remembered);
        made(*known);
        return verdict_on(state, *known, request);
    }
    Outcome outcome = decide(state, breaker, request);
    if (!outcome.decision) {
        counters.add(Count::errors);
        return std::move(outcome.verdict);
    }
    made(*outcome.decision);
    if (!outcome.may_keep) counters.add(Count::fallbacks);
    Verdict verdict = verdict_on(state, *outcome.decision, request);
    if (verdict.log.empty()) verdict.log = std::move(outcome.log);
    if (outcome.may_keep) state.forecasts->insert(std::move(key), std::move(outcome.decision));
    return verdict;
}

// The counters with what is in force.
std::string status_of(const SiteState& state, const Counters& counters, std::int64_t opened_at_s) {
    std::string out = counters.metrics();
    out += gauge("dlcast_weights_info", "Weights in force.",
                 fmt::format("by=\"{}\",id=\"{}\"", state.model->by(), state.model->weights_id()), 1);
    out += gauge("dlcast_configuration_faults", "Faults of the files in force; slurmctld's log names them.", "",
                 static_cast<double>(state.faults.size()));
    if (state.cluster)
        out += gauge("dlcast_cluster_synced_timestamp_seconds", "When dlcast sync wrote the cluster file.", "",
                     static_cast<double>(state.cluster->synced_at_s));
    out += gauge("dlcast_opened_timestamp_seconds", "When slurmctld opened the plugin.", "",
                 static_cast<double>(opened_at_s));
    out += gauge("dlcast_written_timestamp_seconds", "When this was written.", "", static_cast<double>(now_s()));
    return out;
}

}  // namespace

struct Forecaster::Impl {
    ForecasterPaths paths;
    std::atomic<std::shared_ptr<const SiteState>> state;
    std::mutex reload_mutex;
    std::chrono::steady_clock::time_point next_look;    // under reload_mutex
    std::vector<std::string> told_faults;               // under reload_mutex
    std::string status_fault;                           // under reload_mutex
    std::chrono::steady_clock::time_point next_status;  // under reload_mutex
    std::uint64_t written_events = ~std::uint64_t{0};   // under reload_mutex: events at the last writing
    const std::int64_t opened_at_s = now_s();
    mutable CircuitBreaker breaker;
    mutable Counters counters;

    // A fault, each once by the caller's care; empty: written, or nothing to write.
    std::string write_status(const SiteState& now) {
        if (!now.site || now.site->status_file.empty() || written_events == counters.events()) return "";
        written_events = counters.events();
        const auto written = write_file_atomically(now.site->status_file, status_of(now, counters, opened_at_s), false);
        return written ? "" : written.error().message + "; counters are not kept";
    }
};

Forecaster::Forecaster(ForecasterPaths paths) : impl_(std::make_unique<Impl>()) {
    impl_->paths = std::move(paths);
    impl_->state = load_site(impl_->paths, nullptr, now_s());
    impl_->next_look = std::chrono::steady_clock::now() + reload_interval;
}

Forecaster::~Forecaster() { (void)impl_->write_status(*impl_->state.load()); }

std::vector<std::string> Forecaster::reload_if_changed() {
    const std::unique_lock lock(impl_->reload_mutex, std::try_to_lock);
    if (!lock) return {};  // another thread looks already
    std::shared_ptr<const SiteState> state = impl_->state.load();
    const auto now = std::chrono::steady_clock::now();
    if (now >= impl_->next_look) {
        impl_->next_look = now + reload_interval;
        if (is_outdated(*state, now_s())) {
            state = load_site(impl_->paths, state.get(), now_s());
            impl_->state.store(state);
        }
    }
    std::vector<std::string> faults = state->faults;
    if (const std::string old = stale_cluster(*state); !old.empty()) faults.push_back(old);
    if (now >= impl_->next_status) {
        impl_->next_status = now + status_interval;
        impl_->status_fault = impl_->write_status(*state);
    }
    if (!impl_->status_fault.empty()) faults.push_back(impl_->status_fault);
    std::vector<std::string> lines;
    for (const std::string& fault : faults)
        if (std::find(impl_->told_faults.begin(), impl_->told_faults.end(), fault) == impl_->told_faults.end())
            lines.push_back(fault);
    impl_->told_faults = std::move(faults);
    return lines;
}

Verdict Forecaster::submit(const SubmitRequest& request) const noexcept {
    Verdict failed;
    try {
        const std::shared_ptr<const SiteState> state = impl_->state.load();
        if (!state->site) return {};
        const auto start = std::chrono::steady_clock::now();
        impl_->counters.add(Count::submissions);
        Verdict verdict = answer_to(*state, impl_->breaker, impl_->counters, request);
        if (verdict.action == Verdict::Action::reject) impl_->counters.add(Count::rejections);
        impl_->counters.took(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        return verdict;
    } catch (const std::exception& e) {
        failed.log = std::string("no forecast: ") + e.what();
    } catch (...) {
        failed.log = "no forecast: unknown failure";
    }
    impl_->counters.add(Count::errors);
    failed.log_is_error = true;
    return failed;
}

}  // namespace dlcast
