// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/job_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/base/text.h"
#include "predictor/step/memory.h"
#include "predictor/step/quantile.h"

namespace dlcast {
namespace {

double passes_over_validation_set(const Workload& workload, double steps, double samples_per_step) {
    const std::string& every = workload.training.eval_every;
    if (every.empty() || workload.dataset.validation_samples <= 0) return 0;
    if (every == "epoch") {
        if (workload.training.epochs) return std::floor(*workload.training.epochs);
        return workload.dataset.samples > 0
                   ? std::floor(steps * samples_per_step / static_cast<double>(workload.dataset.samples))
                   : 0;
    }
    const auto interval = parse_integer(every);
    return interval && *interval > 0 ? std::floor(steps / static_cast<double>(*interval)) : 0;
}

bool has_adapters(const ModelSpec& model) {
    return std::any_of(model.layers.begin(), model.layers.end(),
                       [](const Layer& layer) { return layer.name.ends_with(".lora_a"); });
}

// A checkpoint holds weights and the optimizer's states; of a model with adapters, those of the adapters alone.
double checkpoint_bytes(const Workload& workload) {
    const BytesPerParameter per = bytes_per_parameter(workload.training, false);
    const auto trained = static_cast<double>(workload.model.trainable_parameters);
    const double weights = has_adapters(workload.model) ? trained : static_cast<double>(workload.model.parameters);
    return per.weight * weights + per.optimizer * trained;
}

// The error of a step's time is the same in every step, so it does not average out, and validation shares it; the other
// parts err independently. For the small relative deviations at hand that of the sum is the standard deviation of its
// logarithm.
double log_sd_of(const JobForecast& job, double step_log_sd, double job_log_sd) {
    double of_steps_s = 0, squares_s2 = 0;
    for (const JobPart& part : job_parts) {
        const double seconds = job.*part.seconds;
        if (part.of_steps) of_steps_s += seconds;
        squares_s2 += std::pow(part.relative_sd * seconds, 2);
    }
    const double sd_s = std::sqrt(squares_s2 + std::pow(step_log_sd * of_steps_s, 2));
    return std::hypot(job.p50_s > 0 ? sd_s / job.p50_s : 0.0, job_log_sd);
}

}  // namespace

double JobForecast::quantile_s(double q) const { return log_normal_quantile(p50_s, log_sd, q); }

std::optional<double> total_steps(const Workload& workload, double samples_per_step) {
    const Training& training = workload.training;
    if (training.steps) return static_cast<double>(*training.steps);
    if (samples_per_step <= 0) return std::nullopt;
    if (training.epochs && workload.dataset.samples > 0) {
        // The last, smaller batch of an epoch is a step too.
        const double per_epoch = std::ceil(static_cast<double>(workload.dataset.samples) / samples_per_step);
        return std::ceil(*training.epochs * per_epoch);
    }
    if (training.tokens && workload.model.seq_len > 0)
        return std::ceil(*training.tokens / (samples_per_step * static_cast<double>(workload.model.seq_len)));
    return std::nullopt;
}

std::string missing_duration(const Workload& workload, OptionsOf program) {
    const bool is_text = workload.model.seq_len > 0;
    const bool of_dlcast = program == OptionsOf::dlcast;
    if (workload.training.epochs)
        return std::string("epochs of a data set of unknown size; add ") +
               (of_dlcast ? "--dataset NAME or --set dataset.samples=N, or give --steps S instead"
                          : "--dl-train=dataset=NAME or --dl-train=dataset.samples=N, or \"samples\" to the file's "
                            "\"dataset\"");
    if (workload.training.tokens && workload.model.image_size > 0)
        return fmt::format("tokens of a model that reads images, {}; give {} in their place", workload.model.name,
                           of_dlcast ? "--epochs E or --steps S" : "\"epochs\" or \"steps\"");
    if (workload.training.tokens)
        return std::string("tokens of samples of unknown length; add ") +
               (of_dlcast ? "--seq-len L" : "--dl-train=seq_len=L, or \"seq_len\" to the file's \"training\"");
    if (of_dlcast) return "no duration is declared; add --epochs E, --steps S or --tokens T";
    // Epochs alone would not do where no data set is declared.
    const char* data = workload.dataset.samples > 0 ? "" : is_text ? ",dataset.samples=52000" : ",dataset=imagenet-1k";
    return fmt::format(
        "no duration is declared; add --dl-train=epochs={}{} or --dl-train=steps=100000, or \"epochs\", \"steps\" or "
        "\"tokens\" to the file's \"training\"",
        is_text ? 3 : 90, data);
}

std::optional<JobForecast> forecast_job(const Workload& workload, const StepEstimate& step,
                                        const Allocation& allocation, const JobCosts& costs) {
    const auto steps = total_steps(workload, step.samples_per_step);
    if (!steps) return std::nullopt;
    JobForecast out;
    out.steps = *steps;
    out.gpus = allocation.world_size();
    out.startup_s = costs.startup_s;
    if (out.gpus > 1) out.initialization_s = costs.rank_init_s * out.gpus;
    if (costs.staging_Bps > 0) out.staging_s = workload.dataset.bytes / costs.staging_Bps;
    out.warmup_s = costs.warmup_s;
    if (workload.training.compile)
        out.warmup_s += costs.compile_layer_s * static_cast<double>(workload.model.layers.size());
    out.training_s = *steps * step.step_s;
    if (step.samples_per_step > 0) {
        const double forward_s_per_sample = step.forward_s / step.samples_per_step;
        const double pass_s =
            costs.validation_start_s + static_cast<double>(workload.dataset.validation_samples) * forward_s_per_sample;
        out.validation_s = passes_over_validation_set(workload, *steps, step.samples_per_step) * pass_s;
    }
    const double interval_s = workload.training.checkpoint_minutes * 60;
    if (interval_s > 0 && costs.checkpoint_write_Bps > 0) {
        const double count = std::floor(out.training_s / interval_s) + 1;  // and one at the end
        out.checkpoint_s = count * checkpoint_bytes(workload) / costs.checkpoint_write_Bps;
    }
    out.tail_s = costs.tail_s;
    for (const JobPart& part : job_parts) out.p50_s += out.*part.seconds;
    out.log_sd = log_sd_of(out, step.log_sd, costs.log_sd);
    out.p95_s = out.quantile_s(0.95);
    return out;
}

}  // namespace dlcast
