// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_test_support.h"

using namespace dlcast;

namespace {

std::string net(const std::string& input, const std::string& layers) {
    return "{\"model\": {\"name\": \"net\", \"input\": " + input + ", \"layers\": [" + layers + "]}}";
}

Workload small(const std::string& input, const std::string& layers) { return good_workload(net(input, layers)); }

}  // namespace

// 3 x 3 x 3 x 64 + 64 = 1,792; 3 x 3 x 64 x 64 + 64 = 36,928; 64 x 16 x 16 x 10 + 10 = 163,850.
TEST_CASE("layers written out get shapes and parameters", "[model][written]") {
    const auto w = small("[3, 32, 32]", R"(
        {"type": "conv2d", "out": 64, "kernel": 3, "padding": "same", "activation": "relu", "repeat": 2},
        {"type": "max_pool", "kernel": 2}, {"type": "flatten"}, {"type": "linear", "out": 10})");
    REQUIRE(w.model.layers.size() == 8);  // two convolutions, two relus, pool, flatten, linear, loss
    CHECK(w.model.layers[4].output == Shape{64, 16, 16});
    CHECK(w.model.parameters == 1'792 + 36'928 + 163'850);
    CHECK(w.model.layers.back().kind == LayerKind::loss);
    CHECK(w.model.image_size == 32);
}

TEST_CASE("padding, stride and dilation decide the output", "[model][written]") {
    const auto [keys, side] = GENERATE(table<std::string, std::int64_t>({
        {R"("kernel": 3)", 30},                             // 32 - 2
        {R"("kernel": 3, "padding": 1, "stride": 2)", 16},  // (32 + 2 - 3) / 2 + 1
        {R"("kernel": 3, "padding": "same", "stride": 2)", 16},
        {R"("kernel": 3, "dilation": 2)", 28},  // a window of 5
        {R"("kernel": [5, 5], "padding": [2, 2])", 32},
    }));
    const auto w = small("[3, 32, 32]", "{\"type\": \"conv2d\", \"out\": 8, " + keys + "}");
    CHECK(w.model.layers[0].output == Shape{8, side, side});
}

TEST_CASE("tensors are joined by the names of earlier layers", "[model][written]") {
    const auto w = small("[8, 4, 4]", R"(
        {"type": "conv2d", "name": "a", "out": 8, "kernel": 1},
        {"type": "conv2d", "name": "b", "from": "input", "out": 8, "kernel": 1},
        {"type": "add", "from": "a"}, {"type": "concat", "name": "c", "from": ["a", "b", "input"]})");
    CHECK(w.model.layers[3].output == Shape{24, 4, 4});
    CHECK_THAT(
        error_of(net("[8, 4, 4]",
                     R"({"type": "conv2d", "out": 4, "kernel": 1, "name": "conv"}, {"type": "add", "from": "input"})")),
        Catch::Contains("[4, 4, 4]") && Catch::Contains("should be equal"));
    CHECK_THAT(error_of(net("[8, 4, 4]", R"({"type": "relu", "name": "first"}, {"type": "add", "from": "firs"})")),
               Catch::Contains("did you mean \"first\"?"));
}

// LSTM: 4 x 256 x (128 + 256 + 2) = 395,264 as PyTorch counts (two biases). GRU: three gates. Both directions: twice.
TEST_CASE("sequences pass embeddings, blocks and recurrent layers", "[model][written]") {
    const auto w = small("[64]", R"(
        {"type": "embedding", "vocab": 1000, "width": 128},
        {"repeat": 2, "layers": [{"type": "transformer_block", "heads": 4, "inner": 512}]},
        {"type": "lstm", "hidden": 256}, {"type": "gru", "hidden": 32, "bidirectional": true}, {"type": "linear", "out": 5})");
    // A block: 4 x (128 x 128 + 128) + 2 x 128 x 512 + 512 + 128 + 2 norms x 256 = 198,272.
    const std::uint64_t gru = 2 * 3 * 32 * (256 + 32 + 2);
    CHECK(w.model.parameters == 128'000 + 2 * 198'272 + 395'264 + gru + 64 * 5 + 5);
    CHECK(w.model.seq_len == 64);
    CHECK(w.model.layers[1].block == 0);
}

TEST_CASE("faults of a layer carry its line and column and the remedy", "[model][written]") {
    CHECK(error_of("{\"model\": {\"input\": [3, 8, 8], \"layers\": [\n  {\"type\": \"conv2d\", \"out\": 4}]}}") ==
          "model description:2:3: conv2d needs a kernel; add \"kernel\": [3, 3]");
    CHECK(error_of("{\"model\": {\"input\": [3, 8, 8], \"layers\": [\n  {\"type\": \"conv2b\"}]}}") ==
          "model description:2:12: unknown layer type \"conv2b\"; did you mean \"conv2d\"?");
    CHECK_THAT(error_of(net("[3, 8, 8]", R"({"type": "conv2d", "out": 4, "kernel": 9})")),
               Catch::Contains("nothing is left"));
    CHECK_THAT(error_of(net("[16]", R"({"type": "conv2d", "out": 4, "kernel": 3})")),
               Catch::Contains("needs an image"));
    CHECK_THAT(error_of(net("[3, 8, 8]", R"({"type": "conv2d", "out": 4, "kernal": 9, "kernel": 3})")),
               Catch::Contains("did you mean \"kernel\"?"));
    CHECK_THAT(error_of(net("[3, 8, 8]", R"({"out": 4})")), Catch::Contains("needs a type"));
    CHECK_THAT(error_of(net("[3, 8, 8]", "")), Catch::Contains("at least one layer"));
    CHECK_THAT(error_of(net("[64, 100]", R"({"type": "attention", "heads": 7})")),
               Catch::Contains("7 heads do not divide"));
    CHECK_THAT(error_of(R"({"model": {"layers": [{"type": "relu"}]}})"), Catch::Contains("needs \"input\""));
}

TEST_CASE("words that a layer does not know are refused with those it knows", "[model][written]") {
    const auto block = [](const std::string& more) {
        return error_of(net("[16, 64]", R"({"type": "transformer_block", "heads": 4, "inner": 128, )" + more + "}"));
    };
    CHECK(block(R"("norm": "rms_norm", "activation": "silu")").empty());
    CHECK_THAT(block(R"("norm": "batch_norm")"),
               Catch::Contains("norm is \"batch_norm\"; it should be \"layer_norm\""));
    CHECK_THAT(block(R"("activation": "wave")"), Catch::Contains("activation \"wave\" is unknown"));
    CHECK_THAT(error_of(R"({"input": {"size": 8}, "layers": {"1": {"type": "Convolution", "channels_out": 4,
        "kernelsize": 3, "padding": "weird"}}})"),
               Catch::Contains("padding is \"weird\"; it should be \"SAME\" or \"VALID\""));
}

TEST_CASE("groups that divide no channels are told with both counts", "[model][written]") {
    const auto fault = [](const std::string& layer) { return error_of(net("[3, 8, 8]", layer)); };
    CHECK_THAT(fault(R"({"type": "conv2d", "out": 64, "kernel": 1, "groups": 2})"),
               Catch::Contains("conv2d with 2 groups: they do not divide its 3 input channels; make groups a divisor"));
    CHECK_THAT(fault(R"({"type": "conv2d", "out": 64, "kernel": 1, "groups": 3})"),
               Catch::Contains("do not divide its 64 output channels"));
    CHECK_THAT(fault(R"({"type": "conv2d_transpose", "out": 5, "kernel": 1, "groups": 2})"),
               Catch::Contains("neither its 3 input nor its 5 output channels"));
}

// 8 / 2 = 4 rows, 9 / 3 = 3 columns: a pooling strides by its kernel; (8 - 3) / 2 + 1 = 3 rows and 9 - 3 + 1 = 7
// columns; a dilation of [3, 1] spans 7 rows: 2 rows and 7 columns.
TEST_CASE("windows have a stride and a dilation along each side", "[model][written]") {
    const auto out = [](const std::string& layer) {
        return good_workload(net("[4, 8, 9]", layer)).model.layers[0].output;
    };
    CHECK(out(R"({"type": "max_pool", "kernel": [2, 3]})") == Shape{4, 4, 3});
    CHECK(out(R"({"type": "conv2d", "out": 4, "kernel": 3, "stride": [2, 1]})") == Shape{4, 3, 7});
    CHECK(out(R"({"type": "conv2d", "out": 4, "kernel": 3, "dilation": [3, 1]})") == Shape{4, 2, 7});
}

// 4 x 4 + 4 = 20 counted once; both compute 2 x 16 FLOPs. A norm without factors has its shifts alone; slopes of a
// PReLU; an LSTM with one bias a gate 4 (4 + 4 + 1) 4.
TEST_CASE("tied layers compute and count nothing; what is learned may be less than usual", "[model][written]") {
    const auto w =
        good_workload(net("[4]", R"({"type": "linear", "out": 4}, {"type": "linear", "out": 4, "tied": true})"));
    CHECK(w.model.parameters == 20);
    CHECK(forward_flops(w.model) == 2.0 * 2 * 16);
    const auto counted = [](const std::string& input, const std::string& layer) {
        return good_workload(net(input, layer)).model.parameters;
    };
    CHECK(counted("[4]", R"({"type": "layer_norm", "scale": false})") == 4);
    CHECK(counted("[4]", R"({"type": "layer_norm", "scale": false, "bias": false})") == 0);
    CHECK(counted("[4]", R"({"type": "rms_norm"})") == 4);
    CHECK(counted("[4]", R"({"type": "prelu", "parameters": 4})") == 4);
    CHECK(counted("[7, 4]", R"({"type": "lstm", "hidden": 4, "biases": 1})") == 4 * 9 * 4);
    CHECK_THAT(error_of(net("[4]", R"({"type": "linear", "out": 4, "trainable": "yes"})")),
               Catch::Contains("trainable is \"yes\"; it should be true or false"));
}

TEST_CASE("absurd sizes are refused before they overflow", "[model][written]") {
    const std::string relu = R"({"type": "relu"})";
    for (
        const std::string& json :
        {net("[1000000000, 1000000000, 1000000000]", relu), net("[3, 8, 8]", R"({"type": "relu", "repeat": 100001})"),
         net("[3, 8, 8]", R"({"repeat": 100000, "layers": [{"repeat": 100000, "layers": [{"type": "relu"}]}]})"),
         net("[3, 8, 8]", R"({"type": "upsample", "factor": 1000000000, "repeat": 3})"),
         net("[3, 8, 8]", R"({"type": "conv2d_transpose", "out": 1, "kernel": 1, "stride": 1000000000, "repeat": 3})"),
         net("[3, 8, 8]",
             R"({"type": "conv2d", "out": 1000000000, "kernel": [1000000000, 1], "padding": 1000000000, "repeat": 9})"),
         net("[10, 10]", R"({"type": "linear", "out": 1000000000, "repeat": 3})"),
         net("[10, 10]", R"({"type": "attention", "heads": 1000000000, "head_dim": 1000000000})"),
         net("[10, 8]",
             R"({"type": "transformer_block", "heads": 1, "inner": 1000000, "experts": 1000000000, "active_experts": 1000000000})"),
         std::string(R"({"model": "gpt2", "training": {"seq_len": 100000000, "batch_size": 1000000000}})")}) {
        INFO(json);
        CHECK_FALSE(workload_of(json));
    }
}

// Weights of 8 x 16 = 128 numbers and others, made of 40 numbers that are learned.
TEST_CASE("a layer with weights may learn another number than its sizes say", "[model][written]") {
    const auto [layer, input] = GENERATE(table<std::string, std::string>({
        {R"({"type": "linear", "out": 16, "parameters": 40})", "[8]"},
        {R"({"type": "conv2d", "out": 16, "kernel": 1, "parameters": 40, "activation": "relu"})", "[8, 4, 4]"},
        {R"({"type": "depthwise_conv2d", "kernel": 3, "parameters": 40})", "[8, 4, 4]"},
        {R"({"type": "conv1d", "out": 16, "kernel": 1, "parameters": 40})", "[5, 8]"},
        {R"({"type": "conv2d_transpose", "out": 16, "kernel": 1, "parameters": 40})", "[8, 4, 4]"},
        {R"({"type": "embedding", "vocab": 8, "width": 16, "parameters": 40})", "[5]"},
        {R"({"type": "lstm", "hidden": 16, "parameters": 40})", "[5, 8]"},
        {R"({"type": "concat", "at": [5, 16], "parameters": 40})", "[5, 16]"},
    }));
    CAPTURE(layer);
    CHECK(small(input, layer).model.parameters == 40);
    CHECK_FALSE(error_of(net("[8, 4, 4]", R"({"type": "max_pool", "kernel": 2, "parameters": 40})")).empty());
}
