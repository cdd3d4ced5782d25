// SPDX-License-Identifier: GPL-2.0-or-later
// The GPU backend of this build, where there is a GPU.
#include <catch2/catch.hpp>
#include <cstdio>

#include "profiler/open_device.h"
#include "profiler/profile_options.h"
#include "profiler/statistics.h"

using namespace dlcast;

namespace {

/// Nothing, and the reason on standard output, where no GPU can be used.
Backend* gpu() {
    static auto device = open_cuda(0);
    if (device) return device->backend.get();
    std::printf("SKIPPED: %s\n", device.error().message.c_str());
    return nullptr;
}

double median_s(Backend& backend, const Operator& op) {
    auto work = backend.prepare(op);
    if (!work) FAIL(work.error().message);
    std::vector<double> times;
    for (int i = 0; i < 21; ++i) times.push_back((*work)->run_s());
    return statistics_of(times).median_s;
}

Operator product(std::int64_t size, Precision precision) {
    Operator op;
    op.kind = OperatorKind::linear;
    op.precision = precision;
    op.m = op.k = op.n = size;
    return op;
}

}  // namespace

TEST_CASE("a GPU's products take longer the larger they are, and less in half precision", "[profiler][gpu]") {
    Backend* backend = gpu();
    if (backend == nullptr) return;
    const double small = median_s(*backend, product(1024, Precision::fp32));
    const double large = median_s(*backend, product(4096, Precision::fp32));
    CHECK(large > 16 * small);  // 64 times the arithmetic
    CHECK(median_s(*backend, product(4096, Precision::fp16)) < large);
}

TEST_CASE("a GPU runs the operators of a convolutional network, or says which it cannot", "[profiler][gpu]") {
    Backend* backend = gpu();
    if (backend == nullptr) return;
    const auto models = read_models({.models = {"resnet18"}, .batch_size = 4, .optimizer = "momentum"});
    REQUIRE(models);
    for (const SamplePoint& point : points_of(*models)) {
        const auto* op = std::get_if<Operator>(&point);
        if (op == nullptr || op->kind == OperatorKind::loss) continue;
        INFO(describe(point));
        CHECK(median_s(*backend, *op) > 0.0);
    }
}
