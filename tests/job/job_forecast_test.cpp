// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/job_forecast.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dlcast;
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
const JobCosts quiet{.startup_s = 100, .checkpoint_write_Bps = 1e9, .log_sd = 0};

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
