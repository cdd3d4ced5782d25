// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_physics.h"

#include <cmath>

#include "tests/step/step_test_support.h"

using namespace dlcast;
using Catch::Matchers::WithinRel;

namespace {

void set(StepCoefficients& c, StepConstant which, double value) {
    c[static_cast<std::size_t>(which)] = fitted_value(which, value);
}

}  // namespace

// 2 x 8192^3 = 1.1e12 operations; at half of 10 TFLOP/s 0.22 s. Tiles of 256 x 128 make 2048 on 80 processors: 25.6
// waves, so 26 at 98.5 %; memory needs 0.8 GB / 0.7 TB/s = 1 ms and does not show.
TEST_CASE("a large product takes its operations over the share of the peak that is fitted", "[step_physics]") {
    Workload workload = test::linear_net(1, 8192, 8192);
    workload.training.forward_only = true;
    StepCoefficients c = prior_coefficients();
    set(c, StepConstant::product_simt, 0.5);
    set(c, StepConstant::tile_power, 1.0);
    const double operations = 2.0 * 8192 * 8192 * 8192;
    const double expected_s = operations / (0.5 * 1e13) / (25.6 / 26) * (1 + 40.0 / 8192);
    CHECK_THAT(step_times(test::work_of(workload), c).forward_s, WithinRel(expected_s, 2e-3));
    workload.training.precision = Precision::amp;  // tensor units: ten times the peak, at its own share
    set(c, StepConstant::product_half, 0.5);
    CHECK_THAT(step_times(test::work_of(workload), c).forward_s, WithinRel(expected_s / 10, 0.05));
}

// Adam reads and writes 32 bytes a parameter (see operator.h): 1e6 of them at 85 % of 1 TB/s take 38 us; the graph of a
// compiled model launches the update at once.
TEST_CASE("an update is its traffic over the bandwidth", "[step_physics]") {
    Workload workload = test::linear_net(4, 8192, 1);
    workload.training.compile = true;
    const double bytes = 32.0 * 4 * 8192 * 8192;
    const StepTimes<double> t = step_times(test::work_of(workload), prior_coefficients());
    CHECK_THAT(t.update_s, WithinRel(bytes / (0.85 * 1e12), 0.1));
}

TEST_CASE("a host that issues kernels one by one is a floor under small ones", "[step_physics]") {
    Workload workload = test::linear_net(50, 64, 1);
    workload.training.forward_only = true;
    StepCoefficients c = prior_coefficients();
    set(c, StepConstant::eager_kernel_s, 20e-6);
    CHECK_THAT(step_times(test::work_of(workload), c).forward_s, WithinRel(50 * 20e-6, 0.05));
}

TEST_CASE("a CPU has no host beside it whose work between steps would count", "[step_physics]") {
    const Workload workload = test::linear_net(3, 256, 8);
    StepWork work = test::work_of(workload);
    const StepTimes<double> gpu = step_times(work, prior_coefficients());
    work.device.vendor = "cpu";
    const StepTimes<double> cpu = step_times(work, prior_coefficients());
    CHECK(gpu.host_s > 0.0);
    CHECK(cpu.host_s == 0.0);
    CHECK_THAT(cpu.step_s, WithinRel(gpu.step_s - gpu.host_s, 1e-12));
}

TEST_CASE("slopes agree with differences, for every constant that a step meets", "[step_physics]") {
    Workload workload = test::linear_net(3, 1024, 256);
    workload.training.precision = Precision::amp;
    workload.training.grad_accum = 2;
    const StepWork work = test::work_of(workload, 4);
    const StepCoefficients at = prior_coefficients();
    const StepDual step = step_slopes(work, at).step_s;
    CHECK_THAT(step.value, WithinRel(step_times(work, at).step_s, 1e-12));
    int met = 0;
    for (std::size_t i = 0; i < constant_count; ++i) {
        constexpr double h = 1e-5;
        StepCoefficients up = at, down = at;
        up[i] += h;
        down[i] -= h;
        const double difference = (step_times(work, up).step_s - step_times(work, down).step_s) / (2 * h);
        INFO(constant_facts()[i].name);
        CHECK(std::abs(step.slope[i] - difference) <= 1e-6 * step.value);
        met += difference != 0;
    }
    CHECK(met >= 15);
}

TEST_CASE("gradients hide behind backward, but the last", "[step_physics]") {
    const StepTimes<double> t = step_times(test::work_of(test::linear_net(16, 4096, 4096), 4), prior_coefficients());
    CHECK(t.exposed_s > 0);
    CHECK(t.exposed_s < 0.2 * t.communication_s);  // 16 buckets of 67 MB, one exposed
}

TEST_CASE("layers add up to the phases of an eager step on one device", "[step_physics]") {
    const StepWork work = test::work_of(test::linear_net(4, 2048, 2048));
    const StepCoefficients c = prior_coefficients();
    double forward_s = 0;
    const auto seconds = layer_seconds(work, c);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        forward_s += work.layers[i].count * seconds[i].forward_s;
        CHECK(std::string(seconds[i].bound) == "compute");
    }
    CHECK_THAT(forward_s, WithinRel(step_times(work, c).forward_s, 1e-3));  // the host's floor adds a little
}
