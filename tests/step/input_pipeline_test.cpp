// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/input_pipeline.h"

#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

// 1024 images at 100 a second from 4 workers of 2 GPUs: 1.28 s.
TEST_CASE("loaders that are slower than the GPUs bound the step", "[input_pipeline]") {
    Workload workload = test::linear_net(1, 64, 512);
    workload.model.image_size = 224;
    Allocation allocation;
    allocation.gpus_per_node = 2;
    const std::vector<StepQuery> queries{{&workload, allocation}};
    StepEstimate step;
    step.step_s = 0.28;
    step.samples_per_step = 1024;
    const InputRates rates{.images_per_s = 100, .texts_per_s = 0, .workers_per_gpu = 4};
    std::vector<StepEstimate> steps{step};
    add_input_waits(queries, rates, steps);
    CHECK_THAT(steps[0].step_s, WithinRel(1.28, 1e-12));
    CHECK_THAT(steps[0].input_wait_s, WithinRel(1.0, 1e-12));

    steps = {step};
    steps[0].step_s = 2.0;  // the GPUs are slower
    add_input_waits(queries, rates, steps);
    CHECK(steps[0].step_s == 2.0);

    steps = {step};
    workload.model.image_size = 0;  // of texts no rate is known
    add_input_waits(queries, rates, steps);
    CHECK(steps[0].step_s == 0.28);
}
