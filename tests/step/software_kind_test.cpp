// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/software_kind.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {

SoftwareKind of(const std::string& framework, bool compile = false, std::int64_t image_size = 0,
                Precision precision = Precision::amp, bool channels_last = true) {
    ModelSpec model;
    model.image_size = image_size;
    Training training;
    training.framework = framework;
    training.compile = compile;
    training.precision = precision;
    training.channels_last = channels_last;
    return software_kind(model, training);
}

}  // namespace

TEST_CASE("frameworks are told by their names", "[software_kind]") {
    CHECK(of("TensorFlow1+Horovod").factor == StepConstant::software_tensorflow1);
    CHECK(of("tensorflow2+horovod").factor == StepConstant::software_tensorflow2);
    CHECK(of("tensorflow2+horovod").horovod);
    CHECK(of("tensorflow").host == Host::session);
    CHECK(of("pytorch+megatron").factor == StepConstant::software_megatron);
    CHECK(of("pytorch+megatron-lm (accelerate)").factor == StepConstant::software_eager);
    CHECK(of("nemo").sequence_parallel);
    CHECK_FALSE(of("pytorch+composer").second_attention);
    CHECK(of("something new").factor == StepConstant::software_container);
    CHECK(of("something new").host == Host::eager);
}

TEST_CASE("a compiler fuses and issues kernels without Python", "[software_kind]") {
    const SoftwareKind compiled = of("pytorch", true);
    CHECK(compiled.fusion == Fusion::by_compiler);
    CHECK(compiled.host == Host::graph);
    CHECK(of("tensorflow2", true).host == Host::session);  // XLA's clusters run in the session
}

TEST_CASE("batch norm is fused for half-width tensors with channels last alone", "[software_kind]") {
    CHECK(of("mxnet", false, 224).fusion == Fusion::batch_norm);
    CHECK(of("mxnet", false, 224, Precision::tf32).fusion == Fusion::none);
    CHECK(of("mxnet", false, 224, Precision::amp, false).fusion == Fusion::none);
    CHECK(of("paddlepaddle").fusion == Fusion::by_hand);  // language models
}
