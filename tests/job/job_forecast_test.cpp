// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/job_forecast.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

Workload epochs_of(double epochs, std::int64_t samples) {
    Workload workload;
    workload.training.epochs = epochs;
    workload.training.batch_size = 32;
    workload.dataset.samples = samples;
    return workload;
}
StepEstimate step_of(double seconds, double samples) {
    StepEstimate step;
    step.step_s = seconds;
    step.forward_s = seconds / 3;
    step.samples_per_step = samples;
    return step;
}
const JobCosts quiet{.startup_s = 100,
                     .rank_init_s = 0,
                     .staging_Bps = 0,
                     .warmup_s = 0,
                     .compile_layer_s = 0,
                     .validation_start_s = 0,
                     .checkpoint_write_Bps = 1e9,
                     .tail_s = 0,
                     .log_sd = 0};

}  // namespace

// ceil(1000 / 128) = 8 steps an epoch, 10 epochs.
TEST_CASE("the last small batch of an epoch is a step", "[job]") {
    CHECK(total_steps(epochs_of(10, 1000), 128) == 80.0);
}

TEST_CASE("steps and tokens are durations too", "[job]") {
    Workload workload;
    workload.training.steps = 500;
    CHECK(total_steps(workload, 64) == 500.0);
    workload.training.steps.reset();
    workload.training.tokens = 1e6;
    workload.model.seq_len = 1000;
    CHECK(total_steps(workload, 64) == 16.0);  // ceil(1e6 / 64000)
}

TEST_CASE("no duration, no forecast", "[job]") {
    Workload workload;
    CHECK_FALSE(total_steps(workload, 64));
    CHECK_FALSE(forecast_job(workload, step_of(0.1, 64), {}, quiet));
    CHECK_FALSE(total_steps(epochs_of(10, 0), 64));  // epochs of a data set of unknown size
    CHECK(missing_duration(workload, OptionsOf::dlcast) ==
          "no duration is declared; add --epochs E, --steps S or --tokens T");
    CHECK_THAT(missing_duration(workload, OptionsOf::sbatch), Contains("add --dl-train=epochs=90,dataset=imagenet-1k"));
    workload.dataset.samples = 1000;
    CHECK_THAT(missing_duration(workload, OptionsOf::sbatch), Contains("add --dl-train=epochs=90 or"));
    CHECK_THAT(missing_duration(epochs_of(10, 0), OptionsOf::sbatch), Contains("add --dl-train=dataset=NAME"));
}

// 80 steps of 0.5 s and a start-up of 100 s.
TEST_CASE("a job is its start-up and its steps", "[job]") {
    const auto job = forecast_job(epochs_of(10, 1000), step_of(0.5, 128), {}, quiet);
    REQUIRE(job);
    CHECK_THAT(job->training_s, WithinRel(40.0, 1e-12));
    CHECK_THAT(job->p50_s, WithinRel(140.0, 1e-12));
}

// After each of 10 epochs 256 samples, each a third of 0.5 s / 128: 10 x 256 x 0.5 / 3 / 128 = 3.333 s.
TEST_CASE("validation runs forward over its samples after each epoch", "[job]") {
    Workload workload = epochs_of(10, 1000);
    workload.dataset.validation_samples = 256;
    workload.training.eval_every = "epoch";
    CHECK_THAT(forecast_job(workload, step_of(0.5, 128), {}, quiet)->validation_s, WithinRel(10.0 / 3, 1e-12));
    workload.training.eval_every = "40";  // of 80 steps
    CHECK_THAT(forecast_job(workload, step_of(0.5, 128), {}, quiet)->validation_s, WithinRel(2.0 / 3, 1e-12));
}

// 1e9 parameters with Adam in fp32: 4 + 8 bytes each, 12 s at 1 GB/s; 8000 s of steps hold four half hours; one more at
// the end.
TEST_CASE("checkpoints cost their bytes over the storage rate", "[job]") {
    Workload workload;
    workload.training.steps = 8000;
    workload.training.optimizer = Optimizer::adam;
    workload.training.checkpoint_minutes = 30;
    workload.model.parameters = workload.model.trainable_parameters = 1'000'000'000;
    CHECK_THAT(forecast_job(workload, step_of(1.0, 1), {}, quiet)->checkpoint_s, WithinRel(5 * 12.0, 1e-12));
}

// Steps 300 s with sd 0.1: 30 s; start-up 100 s with sd 0.5: 50 s; together hypot(30, 50) / 400, and site noise 0.1
// beside it.
TEST_CASE("spreads add in quadrature", "[job]") {
    StepEstimate step = step_of(3.0, 1);
    step.log_sd = 0.1;
    Workload workload;
    workload.training.steps = 100;
    JobCosts costs = quiet;
    costs.log_sd = 0.1;
    const auto job = forecast_job(workload, step, {}, costs);
    REQUIRE(job);
    CHECK_THAT(job->log_sd, WithinRel(std::hypot(std::hypot(30.0, 50.0) / 400, 0.1), 1e-12));
    CHECK_THAT(job->p95_s, WithinRel(400 * std::exp(1.644853627 * job->log_sd), 1e-6));  // z to ten places
    CHECK_THAT(job->quantile_s(0.5), WithinRel(400.0, 1e-9));
}

TEST_CASE("GPU-hours count every GPU", "[job]") {
    Allocation allocation;
    allocation.nodes = 2;
    allocation.gpus_per_node = 4;
    const auto job = forecast_job(epochs_of(10, 1000), step_of(0.5, 128), allocation, quiet);
    REQUIRE(job);
    CHECK_THAT(job->gpu_hours(3600), WithinRel(8.0, 1e-12));
}

// 16 GPUs at 0.5 s each are 8 s to meet; 1e12 bytes at 2e9 a second are 500 s; first steps 20 s and 4 layers of 3 s are
// 32 s; the end takes 7 s; with 100 s of start-up and 80 steps of 0.5 s: 687 s.
TEST_CASE("what surrounds the steps stands in terms of its own", "[job]") {
    Workload workload = epochs_of(10, 1000);
    workload.dataset.bytes = 1e12;
    workload.model.layers.resize(4);
    workload.training.compile = true;
    Allocation allocation;
    allocation.nodes = 2;
    allocation.gpus_per_node = 8;
    JobCosts costs = quiet;
    costs.rank_init_s = 0.5;
    costs.staging_Bps = 2e9;
    costs.warmup_s = 20;
    costs.compile_layer_s = 3;
    costs.tail_s = 7;
    const auto job = forecast_job(workload, step_of(0.5, 128), allocation, costs);
    REQUIRE(job);
    CHECK_THAT(job->initialization_s, WithinRel(8.0, 1e-12));
    CHECK_THAT(job->staging_s, WithinRel(500.0, 1e-12));
    CHECK_THAT(job->warmup_s, WithinRel(32.0, 1e-12));
    CHECK_THAT(job->p50_s, WithinRel(687.0, 1e-12));
    allocation = {};  // one GPU meets nobody
    CHECK(forecast_job(workload, step_of(0.5, 128), allocation, costs)->initialization_s == 0.0);
}

// Each term by itself makes the quantile: 1000 s of it, and of the exact steps nothing. Its relative spread is that of
// the job's logarithm.
TEST_CASE("every term spreads the run time by itself", "[job]") {
    Workload workload;
    workload.training.steps = 1;
    workload.dataset.bytes = 1000;
    const auto spread = [&](double JobCosts::*figure, double value) {
        JobCosts costs = quiet;
        costs.startup_s = 0;
        costs.*figure = value;
        Allocation allocation;
        allocation.gpus_per_node = 100;
        return forecast_job(workload, step_of(0.0, 1), allocation, costs)->log_sd;
    };
    CHECK_THAT(spread(&JobCosts::startup_s, 1000), WithinRel(0.5, 1e-12));
    CHECK_THAT(spread(&JobCosts::rank_init_s, 10), WithinRel(0.8, 1e-12));
    CHECK_THAT(spread(&JobCosts::staging_Bps, 1), WithinRel(0.5, 1e-12));
    CHECK_THAT(spread(&JobCosts::warmup_s, 1000), WithinRel(0.5, 1e-12));
    CHECK_THAT(spread(&JobCosts::tail_s, 1000), WithinRel(0.5, 1e-12));
}

// Ten passes, each 3 s before its 256 samples: 30 s more.
TEST_CASE("a validation pass has a start of its own", "[job]") {
    Workload workload = epochs_of(10, 1000);
    workload.dataset.validation_samples = 256;
    workload.training.eval_every = "epoch";
    JobCosts costs = quiet;
    costs.validation_start_s = 3;
    CHECK_THAT(forecast_job(workload, step_of(0.5, 128), {}, costs)->validation_s, WithinRel(30 + 10.0 / 3, 1e-12));
}

// Adapters of 1e6 parameters with Adam beside 1e9 frozen ones: 12 bytes each are 12 MB, not 4 GB.
TEST_CASE("a checkpoint of adapters leaves the frozen model out", "[job]") {
    Workload workload;
    workload.training.steps = 100;
    workload.training.optimizer = Optimizer::adam;
    workload.training.checkpoint_minutes = 30;
    workload.model.layers.resize(1);
    workload.model.layers[0].name = "h.0.attn.q.lora_a";
    workload.model.parameters = 1'000'000'000;
    workload.model.trainable_parameters = 1'000'000;
    CHECK_THAT(forecast_job(workload, step_of(1.0, 1), {}, quiet)->checkpoint_s, WithinRel(0.012, 1e-12));
}
