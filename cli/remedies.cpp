// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace dlcast {
namespace {

constexpr int most_gpus = 4096;
constexpr std::size_t most_remedies = 5;

struct Change {
    std::string text;
    std::function<void(PredictOptions&)> apply;
};

Change set_key(const std::string& key_value) {
    return {"--set " + key_value, [=](PredictOptions& o) { o.overrides.set.push_back(key_value); }};
}

// The options with changes, and the forecast they give.
struct Attempt {
    PredictOptions options;
    std::string text;
    std::optional<Prediction> prediction;  // absent: such a layout cannot be
    bool fits() const { return prediction && prediction->candidate.fits_memory; }
};

class Search {
public:
    Search(const PredictOptions& options, const PredictSite& site) : options_(options), site_(site) {}

    Attempt attempt(const std::vector<Change>& changes) const {
        Attempt out{options_, "", std::nullopt};
        for (const Change& change : changes) {
            change.apply(out.options);
            out.text += (out.text.empty() ? "" : " ") + change.text;
        }
        if (auto prediction = make_prediction(out.options, site_)) out.prediction = std::move(*prediction);
        return out;
    }

    // With, where it still does not fit, a smaller batch in its place.
    Attempt attempt_with_batch(std::vector<Change> changes) const {
        Attempt out = attempt(changes);
        if (!out.prediction || out.fits()) return out;
        const auto batch = smaller_batch(*out.prediction);
        if (!batch) return out;
        changes.push_back(*batch);
        return attempt(changes);
    }

private:
    // The same samples in a step, in more micro-steps.
    static std::optional<Change> smaller_batch(const Prediction& prediction) {
        const Training& training = prediction.workload.training;
        const std::int64_t now = prediction.candidate.step.micro_batch;
        std::int64_t smaller = std::min(prediction.largest_micro_batch, now - 1);
        while (smaller > 1 && now % smaller != 0) --smaller;
        if (smaller < 1) return std::nullopt;
        const auto accumulation = static_cast<std::int64_t>(prediction.candidate.step.micro_steps) * (now / smaller);
        if (training.global_batch > 0)
            return Change{fmt::format("--grad-accum {}", accumulation),
                          [=](PredictOptions& o) { o.overrides.grad_accum = accumulation; }};
        return Change{fmt::format("--batch-size {} --grad-accum {}", smaller, accumulation), [=](PredictOptions& o) {
                          o.overrides.batch_size = smaller;
                          o.overrides.grad_accum = accumulation;
                      }};
    }

    const PredictOptions& options_;
    const PredictSite& site_;
};

bool is_sharded(const Parallel& p) { return p.zero == 3 || p.fsdp == "full" || p.fsdp == "hybrid"; }

// bf16, checkpointing, ZeRO 3: what is not there yet and the GPU can do.
std::vector<Change> changes_of(const Prediction& prediction, int gpus) {
    const Training& training = prediction.workload.training;
    std::vector<Change> out;
    const bool is_wide = training.precision == Precision::fp32 || training.precision == Precision::tf32 ||
                         training.precision == Precision::amp;
    if (is_wide && prediction.placement.allocation.device.bf16_flops_per_s > 0)
        out.push_back({"--precision bf16", [](PredictOptions& o) { o.overrides.precision = Precision::bf16; }});
    if (training.activation_checkpointing != "full") out.push_back(set_key("training.activation_checkpointing=full"));
    if (gpus > 1 && !is_sharded(training.parallel)) out.push_back(set_key("training.parallel.zero=3"));
    return out;
}

Remedy remedy_of(const Attempt& attempt) {
    const Candidate& candidate = attempt.prediction->candidate;
    Remedy out;
    out.options = attempt.text;
    out.gpus = candidate.allocation.world_size();
    out.memory_bytes = candidate.step.memory.total_bytes();
    out.device_bytes = candidate.allocation.device.memory_bytes;
    out.samples_per_s = candidate.step.samples_per_step / candidate.step.step_s;
    if (candidate.job) out.run_time_s = candidate.job->p50_s;
    return out;
}

// All ways to take `count` of the changes, in order.
std::vector<std::vector<Change>> choices(const std::vector<Change>& changes, std::size_t count) {
    std::vector<std::vector<Change>> out;
    for (unsigned mask = 1; mask < (1u << changes.size()); ++mask) {
        std::vector<Change> chosen;
        for (std::size_t i = 0; i < changes.size(); ++i)
            if (mask & (1u << i)) chosen.push_back(changes[i]);
        if (chosen.size() == count) out.push_back(std::move(chosen));
    }
    return out;
}

// Twice as many GPUs, and again, until they hold it with all changes; a smaller batch as a last resort.
std::optional<Remedy> more_gpus(const Search& search, const Prediction& prediction, int gpus) {
    const bool on_cpu = prediction.placement.on_cpu;  // one device a node
    for (int n = 2 * gpus; n <= most_gpus; n *= 2) {
        std::vector<Change> changes{{fmt::format("--{} {}", on_cpu ? "nodes" : "gpus", n),
                                     [=](PredictOptions& o) { o.gpus = on_cpu ? 0 : n, o.nodes = on_cpu ? n : 0; }}};
        for (const Change& change : changes_of(prediction, n)) changes.push_back(change);
        const Attempt attempt = search.attempt_with_batch(std::move(changes));
        if (attempt.fits()) return remedy_of(attempt);
    }
    return std::nullopt;
}

}  // namespace

std::vector<Remedy> find_remedies(const PredictOptions& options, const PredictSite& site,
                                  const Prediction& prediction) {
    std::vector<Remedy> out;
    if (prediction.candidate.fits_memory) return out;
    const Search search(options, site);
    const int gpus = prediction.candidate.allocation.world_size();
    const std::vector<Change> changes = changes_of(prediction, gpus);
    const auto add = [&out](const Attempt& attempt) {
        if (attempt.fits()) out.push_back(remedy_of(attempt));
    };
    add(search.attempt_with_batch({}));
    // The lower stages of ZeRO send less than the third.
    const Parallel& parallel = prediction.workload.training.parallel;
    for (int stage = parallel.zero + 1; gpus > 1 && parallel.fsdp.empty() && stage < 3; ++stage) {
        const Attempt attempt = search.attempt({set_key(fmt::format("training.parallel.zero={}", stage))});
        add(attempt);
        if (attempt.fits()) break;
    }
    for (std::size_t count = 1; count <= changes.size(); ++count) {
        for (const auto& chosen : choices(changes, count)) add(search.attempt(chosen));
        if (!out.empty()) break;
    }
    if (out.empty()) add(search.attempt_with_batch(changes));
    if (out.empty())
        if (const auto remedy = more_gpus(search, prediction, gpus)) out.push_back(*remedy);
    std::stable_sort(out.begin(), out.end(),
                     [](const Remedy& a, const Remedy& b) { return a.samples_per_s > b.samples_per_s; });
    if (out.size() > most_remedies) out.resize(most_remedies);
    return out;
}

}  // namespace dlcast
