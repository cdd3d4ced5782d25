// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/verdict.h"

#include <fmt/format.h>

#include "predictor/base/text.h"
#include "predictor/job/admin_comment.h"
#include "predictor/job/array_tasks.h"
#include "predictor/job/het_script.h"
#include "predictor/job/job_environment.h"
#include "predictor/job/policy.h"

namespace dlcast {
namespace {

constexpr std::size_t longest_comment = 16 * 1024 - 1;  // what the bridge to Slurm carries

std::string percent(double quantile) { return fmt::format("{:.4g} %", quantile * 100); }

// "vgg16, 4 x a100 (partition a100): about 3 h 10 min, time limit 4:00:00 (95 %), 12.7 GPU-hours"
std::string summary(const Workload& workload, const Candidate& candidate, const Placement& placement,
                    const SubmitRequest& request, const SiteConfig& site, bool sets_limit) {
    const JobForecast& job = *candidate.job;
    std::string because = candidate.limit_keeps.empty() ? percent(site.quantile) : candidate.limit_keeps;
    if (!candidate.limit_capped_by.empty()) because = candidate.limit_capped_by;
    const std::string ours = fmt::format("time limit {} ({})", format_limit(candidate.limit_min), because);
    std::string limit;
    if (sets_limit && request.time_limit_min >= 0 && request.time_limit_min != candidate.limit_min)
        limit = fmt::format("{} in place of your {}", ours,
                            request.time_limit_min > 0 ? format_limit(request.time_limit_min) : "UNLIMITED");
    else if (sets_limit)
        limit = ours;
    else if (request.time_limit_min > 0)
        limit = fmt::format("your time limit {} stays", format_limit(request.time_limit_min));
    else if (request.time_limit_min == 0)
        limit = "no time limit, as you asked";
    else
        limit = "suggested " + ours;
    std::string text = fmt::format("{}, {} x {} (partition {}): about {}, {}, {} {}-hours", workload.model.name,
                                   job.gpus, placement.gres, candidate.allocation.partition, format_duration(job.p50_s),
                                   limit, format_hours(job.gpu_hours(job.p50_s)), unit_of(placement));
    if (const auto tasks = count_array_tasks(request.array); tasks && *tasks > 1)
        text += fmt::format(" a task, {} in {} tasks",
                            format_hours(static_cast<double>(*tasks) * job.gpu_hours(job.p50_s)), *tasks);
    return text;
}

std::string lines_for_user(const Workload& workload, const Candidate& candidate, const Placement& placement,
                           const SubmitRequest& request, const SiteConfig& site, bool sets_limit) {
    std::string text = "dlcast: " + summary(workload, candidate, placement, request, site, sets_limit);
    const auto warn = [&text](const std::string& line) { text += "\ndlcast: warning: " + line; };
    // That our limit was cut matters where it stands, not beside the user's own.
    const bool fits = candidate.fits_memory && candidate.fits_time;
    if (!candidate.reason.empty() && (!fits || sets_limit || request.time_limit_min < 0)) warn(candidate.reason);
    // A limit that would not suffice either is not asked for.
    const double likely_s = candidate.job->quantile_s(site.quantile);
    if (!sets_limit && candidate.fits_time && request.time_limit_min > 0 &&
        likely_s > static_cast<double>(request.time_limit_min) * 60)
        warn(fmt::format("it may take {} ({}), longer than your time limit {}; ask for --time={}",
                         format_duration(likely_s), percent(site.quantile), format_limit(request.time_limit_min),
                         format_limit(candidate.limit_min)));
    if (!sets_limit && request.deadline_s >= 0 && likely_s > static_cast<double>(request.deadline_s))
        warn(fmt::format("it may take {} ({}), longer than the {} until --deadline", format_duration(likely_s),
                         percent(site.quantile), format_duration(static_cast<double>(request.deadline_s))));
    if (gives_model_to_later_component(request.script))
        warn(
            "the script gives --dl-model to a later component too, which Slurm does not hand over; submit the "
            "components "
            "on the command line, each with its --dl-model, with ':' between them");
    for (const std::string& line : workload.warnings) warn(line);
    if (const std::string lack = missing_unit(candidate.allocation.device, workload.training.precision); !lack.empty())
        warn(lack);
    std::vector<std::string> assumed = workload.assumed;
    assumed.insert(assumed.end(), placement.assumed.begin(), placement.assumed.end());
    if (request.names_nodes && (trim(request.partition).empty() || request.partition.find(',') != std::string::npos))
        assumed.push_back("the slowest partition, for --nodelist, --exclude or --reservation says where the job runs");
    if (!assumed.empty()) text += fmt::format("\ndlcast: assumed: {}", fmt::join(assumed, "; "));
    return text;
}

ForecastRecord record_of(const Workload& workload, const Candidate& candidate, bool on_cpu,
                         const ForecastOrigin& origin, std::int64_t asked_min) {
    ForecastRecord record;
    record.id = new_forecast_id();
    record.model = workload.model.name;
    record.gpus = candidate.allocation.world_size();
    record.nodes = candidate.allocation.nodes;
    record.gpu = candidate.allocation.device.name;
    record.partition = candidate.allocation.partition;
    record.p50_s = candidate.job->p50_s;
    record.p95_s = candidate.job->p95_s;
    record.limit_s = candidate.limit_min * 60;
    record.asked_s = asked_min < 0 ? -1 : asked_min * 60;
    record.on_cpu = on_cpu;
    record.device_h = candidate.job->gpu_hours(candidate.job->p50_s);
    record.by = origin.by;
    record.weights = origin.weights;
    return record;
}

}  // namespace

bool refuses(const Candidate& candidate, const SiteConfig& site) {
    const bool fits = candidate.fits_memory && candidate.fits_time;
    return !fits && site.mode == Mode::enforce && site.on_no_fit == OnFailure::reject;
}

Verdict verdict_of(const Decision& decision, const SubmitRequest& request, const SiteConfig& site) {
    const auto& [workload, candidate, placement, origin] = decision;
    if (!candidate.job) return no_duration_verdict(site, workload);
    Verdict out;
    if (refuses(candidate, site)) {
        out.action = Verdict::Action::reject;
        out.fault = candidate.fits_memory ? Verdict::Fault::time : Verdict::Fault::memory;
        out.message = fmt::format("dlcast: {}, {} x {} (partition {}): {}", workload.model.name,
                                  candidate.allocation.world_size(), placement.gres, candidate.allocation.partition,
                                  candidate.reason);
        return out;
    }
    out.action = Verdict::Action::set;
    const bool sets_limit = site.mode == Mode::enforce &&
                            may_set_limit(site.overwrite, request.time_limit_min, candidate.limit_min) &&
                            // Slurm cuts an open limit to --deadline, and cancels the job whose limit is longer.
                            request.deadline_s < 0 &&
                            // Slurm refuses a --time-min above the limit.
                            request.time_min_min <= candidate.limit_min;
    if (sets_limit) out.time_limit_min = candidate.limit_min;
    if (sets_limit && site.soft_limit && request.time_min_min < 0)
        out.time_min_min = soft_limit_min(*candidate.job, site, candidate.limit_min);
    if (site.mode == Mode::enforce && !request.names_nodes && candidate.allocation.partition != trim(request.partition))
        out.partition = candidate.allocation.partition;
    out.admin_comment = add_to_comment(
        request.admin_comment, record_of(workload, candidate, placement.on_cpu, origin, request.time_limit_min));
    if (out.admin_comment.size() > longest_comment) {
        out.admin_comment.clear();
        out.log = "the admin_comment that is there leaves no room for the forecast";
    }
    if (site.mode == Mode::enforce)
        out.environment =
            job_environment(workload, candidate, site, sets_limit ? candidate.limit_min : request.time_limit_min);
    if (site.mode != Mode::shadow)
        out.message = lines_for_user(workload, candidate, placement, request, site, sets_limit);
    return out;
}

Verdict failure_verdict(const SiteConfig& site, Verdict::Fault fault, const std::string& reason) {
    Verdict out;
    const bool refuses = site.mode == Mode::enforce && site.on_failure == OnFailure::reject;
    if (refuses) {
        out.action = Verdict::Action::reject;
        out.fault = fault;
    }
    if (site.mode != Mode::shadow)
        out.message =
            refuses ? "dlcast: no forecast: " + reason : "dlcast: no forecast, the job goes on as written: " + reason;
    out.log = "no forecast: " + reason;
    return out;
}

Verdict no_gpu_verdict(const SiteConfig& site, const Workload& workload) {
    Verdict out;
    if (site.mode != Mode::shadow)
        out.message = fmt::format(
            "dlcast: {}: the job asks for no GPU, so it goes on as written, without a forecast; ask with --gres=gpu:N, "
            "--gpus=N or --gpus-per-node=N",
            workload.model.name);
    out.log = fmt::format("{}: the job asks for no GPU, so it passes without a forecast", workload.model.name);
    return out;
}

Verdict no_duration_verdict(const SiteConfig& site, const Workload& workload) {
    Verdict out;
    const std::string fault = fmt::format("{}: {}", workload.model.name, missing_duration(workload, OptionsOf::sbatch));
    if (site.mode == Mode::enforce) {
        out.action = Verdict::Action::reject;
        out.fault = Verdict::Fault::no_duration;
    }
    if (site.mode != Mode::shadow) out.message = "dlcast: " + fault;
    if (site.mode == Mode::shadow) out.log = "no forecast: " + fault;
    return out;
}

}  // namespace dlcast
