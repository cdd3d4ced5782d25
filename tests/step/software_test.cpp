// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/software.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {
Software named(const std::string& framework, bool compile = false) {
    Training training;
    training.framework = framework;
    training.compile = compile;
    return software_of(training);
}
}  // namespace

TEST_CASE("graph executors issue kernels faster than eager PyTorch", "[software]") {
    const double eager = named("pytorch").host_s_per_kernel;
    CHECK(named("TensorFlow2+Horovod").host_s_per_kernel < eager);
    CHECK(named("mxnet+horovod").host_s_per_kernel < eager);
    CHECK(named("pytorch", true).host_s_per_kernel < eager);
    CHECK(named("something new").host_s_per_kernel == eager);
}

TEST_CASE("fusion shortens row-wise kernels, not products", "[software]") {
    Operator norm, product;
    norm.kind = OperatorKind::layer_norm;
    product.kind = OperatorKind::linear;
    const Software compiled = named("pytorch", true);
    CHECK(software_factor(compiled, norm) < 1);
    CHECK(software_factor(compiled, product) == 1);
    CHECK(software_factor(named("pytorch"), norm) == 1);
}

TEST_CASE("depthwise convolutions are slower than their traffic says, grouped ones are not", "[software]") {
    Operator conv;
    conv.kind = OperatorKind::conv2d;
    conv.in_ch = 64;
    conv.groups = 64;
    CHECK(software_factor(named("pytorch"), conv) > 1);
    conv.groups = 32;
    CHECK(software_factor(named("pytorch"), conv) == 1);
}

TEST_CASE("a forward pass alone has no cost of a step in PyTorch", "[software]") {
    Training training;
    CHECK(software_of(training).step_s > 0);
    training.forward_only = true;
    CHECK(software_of(training).step_s == 0);
    const double session_s = [&] {
        training.framework = "tensorflow1+horovod";
        return software_of(training).step_s;
    }();
    CHECK(session_s > 0);  // a session feeds and fetches
}
