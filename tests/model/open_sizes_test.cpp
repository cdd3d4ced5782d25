// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes that a file leaves open or fixes, against those that the training states.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "model_test_support.h"
#include "predictor/model/overrides.h"
#include "tests/model/keras_writer.h"
#include "tests/model/onnx_writer.h"
#include "tests/scratch_folder.h"

using namespace dlcast;

namespace {

Workload read(const std::string& path, const WorkloadOverrides& overrides) {
    const auto declaration = read_model_argument(path, overrides);
    if (!declaration) FAIL(declaration.error().message);
    const auto workload = to_workload(*declaration, overrides);
    if (!workload) FAIL(workload.error().message);
    return *workload;
}

WorkloadOverrides stating(const char* assignment) {
    WorkloadOverrides overrides;
    overrides.set = {assignment};
    return overrides;
}

bool names_an_open_size(const Workload& w) {
    return std::any_of(w.assumed.begin(), w.assumed.end(),
                       [](const std::string& text) { return text.ends_with("(open in the file)"); });
}

std::string onnx_net() {
    using namespace onnx_writer;
    return model(input("x", {0, 0, 8}) + weight("m", {8, 8}) + node("MatMul", {"x", "m"}, "y"));
}

}  // namespace

TEST_CASE("an open sequence takes the length that the training states", "[model][onnx]") {
    const ScratchFolder folder;
    const std::string net = folder.path("net.onnx");
    std::ofstream(net, std::ios::binary) << onnx_net();
    CHECK(names_an_open_size(read(net, {})));
    WorkloadOverrides option;
    option.seq_len = 48;
    for (const WorkloadOverrides& stated : {option, stating("training.seq_len=48")}) {
        const Workload w = read(net, stated);
        CHECK(w.model.layers[0].input == Shape{48, 8});
        CHECK_FALSE(names_an_open_size(w));
    }
    const std::string job = folder.path("job.json");
    std::ofstream(job) << R"({"model": "net.onnx", "training": {"seq_len": 32}})";
    CHECK(read(job, {}).model.layers[0].input == Shape{32, 8});
    CHECK(read(job, option).model.layers[0].input == Shape{48, 8});
}

// Embedding 100 x 16; an LSTM of 4 on it; a convolution 3 x 3 on an image.
TEST_CASE("open dimensions of Keras take the sizes stated, or usual ones", "[model][keras]") {
    using namespace keras_writer;
    const std::string text = chain("null", {layer("Embedding", "e", R"("input_dim": 100, "output_dim": 16)"),
                                            layer("LSTM", "l", R"("units": 4)")});
    const std::string image =
        chain("null, null, 3", {layer("Conv2D", "c", R"("filters": 8, "kernel_size": 3, "padding": "same")")});
    const Workload usual = good_workload(text);
    CHECK(usual.model.seq_len == 128);
    CHECK_THAT(usual.assumed, Catch::VectorContains(std::string("seq_len of input in is 128 (open in the file)")));
    CHECK(good_workload(R"({"training": {"seq_len": 40}, "model": )" + text + "}").model.seq_len == 40);
    CHECK(good_workload(image).model.layers[0].output == Shape{8, 224, 224});
    CHECK(good_workload(R"({"training": {"image_size": 64}, "model": )" + image + "}").model.layers[0].output ==
          Shape{8, 64, 64});
    CHECK_THAT(error_of(chain("8, null, 3", {layer("Conv2D", "c", R"("filters": 8, "kernel_size": 3)")})),
               Catch::Contains("neither a sequence's length nor both sides of an image; write their sizes"));
}

// The second layer reads a tensor of 16 tokens, whatever the input is.
TEST_CASE("layers written for a length keep it, and whoever states another is told", "[model]") {
    const std::string fixed =
        R"("model": {"name": "net", "input": [16, 8], "layers": [{"type": "embedding", "vocab": 9, "width": 8, "at": [16]},
           {"type": "linear", "out": 8}]})";
    CHECK(good_workload("{" + fixed + R"(, "training": {"seq_len": 16}})").warnings.empty());
    const Workload w = good_workload("{" + fixed + R"(, "training": {"seq_len": 64}})");
    CHECK(w.model.seq_len == 16);
    REQUIRE(w.warnings.size() == 1);
    CHECK(w.warnings[0] ==
          "seq_len 64 has no effect: the layers of net are written for 16; write them again for seq_len 64");
    const Workload follows = good_workload(R"({"model": {"input": [16], "layers": [
        {"type": "embedding", "vocab": 9, "width": 8}, {"type": "linear", "out": 8}]}, "training": {"seq_len": 64}})");
    CHECK(follows.model.seq_len == 64);
    CHECK(follows.warnings.empty());
}

TEST_CASE("a network of one size says that it keeps it", "[model]") {
    const Workload w = good_workload(R"({"model": "whisper-tiny", "training": {"seq_len": 1000}})");
    REQUIRE(w.warnings.size() == 1);
    CHECK(w.warnings[0] == "seq_len 1000 has no effect: whisper-tiny reads 448");
}

TEST_CASE("an image size that the data set gives is named", "[model]") {
    const auto names = [](const std::string& json) {
        const auto assumed = good_workload(json).assumed;
        return std::any_of(assumed.begin(), assumed.end(),
                           [](const std::string& text) { return text.starts_with("image_size 32 (cifar10's images"); });
    };
    CHECK(names(R"({"model": "vit_b_16", "dataset": "cifar10"})"));
    CHECK_FALSE(names(R"({"model": "vit_b_16", "dataset": "cifar10", "training": {"image_size": 32}})"));
    CHECK_FALSE(names(R"({"model": "vit_b_16", "dataset": "imagenet-1k"})"));
}
