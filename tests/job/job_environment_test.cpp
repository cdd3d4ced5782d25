// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/job_environment.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace dlcast;

// 1000 samples in steps of 100 are 10 steps an epoch; 30 steps of 2 s and 60 s of start-up are 120 s. Without spread
// every quantile is the median: of a limit of 2 min 60 s are left for epochs of 20 s.
TEST_CASE("a job is told its forecast, its limit and the epochs that fit", "[environment]") {
    Workload workload;
    workload.dataset.samples = 1000;
    Candidate candidate;
    candidate.step.step_s = 2.0;
    candidate.step.samples_per_step = 100;
    candidate.job = JobForecast{};
    candidate.job->steps = 30;
    candidate.job->startup_s = 60;
    candidate.job->training_s = 60;
    candidate.job->p50_s = candidate.job->p95_s = 120;
    const auto has = [](const std::vector<std::string>& list, const std::string& entry) {
        return std::find(list.begin(), list.end(), entry) != list.end();
    };
    const auto told = job_environment(workload, candidate, SiteConfig{}, 2);
    for (const char* entry : {"DLCAST_FORECAST_P50_S=120", "DLCAST_FORECAST_P95_S=120", "DLCAST_STARTUP_S=60",
                              "DLCAST_STEP_S=2", "DLCAST_LIMIT_S=120", "DLCAST_EPOCH_S=20", "DLCAST_EPOCHS_FIT=3"}) {
        INFO(entry);
        CHECK(has(told, entry));
    }
    CHECK(has(job_environment(workload, candidate, SiteConfig{}, 1), "DLCAST_EPOCHS_FIT=0"));
    // UNLIMITED, or a partition's own default: nothing is known to fit.
    CHECK(job_environment(workload, candidate, SiteConfig{}, 0).size() == 5);
    workload.dataset.samples = 0;
    CHECK(job_environment(workload, candidate, SiteConfig{}, 2).size() == 5);
}
