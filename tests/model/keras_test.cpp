// SPDX-License-Identifier: GPL-2.0-or-later
// What each Keras layer becomes. Counts of parameters are those that model.summary() of Keras prints, by hand beside.
#include <fmt/format.h>

#include "keras_writer.h"
#include "model_test_support.h"

using namespace dlcast;
using namespace keras_writer;

namespace {

// Parameters, and the output of the last layer before the loss.
struct Counted {
    double parameters;
    Shape output;
};
Counted of_chain(const std::string& shape, const std::vector<std::string>& layers) {
    const Workload w = good_workload(chain(shape, layers));
    return {static_cast<double>(w.model.parameters), w.model.layers.at(w.model.layers.size() - 2).output};
}

}  // namespace

// 3 x 3 x 3 x 8 + 8 = 224 over 3 channels of 224 x 192; channels last the same file would have 192 of them.
TEST_CASE("a Keras model that counts channels first is read so", "[model][keras]") {
    const std::string first = R"(, "data_format": "channels_first")";
    const auto w = good_workload(
        chain("3, 224, 192",
              {layer("ZeroPadding2D", "pad", R"("padding": [[1, 0], [2, 1]])" + first),
               layer("Conv2D", "conv",
                     R"("filters": 8, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same")" + first),
               layer("BatchNormalization", "norm", R"("axis": 1)"),
               layer("DepthwiseConv2D", "deep", R"("kernel_size": [3, 3], "padding": "same")" + first),
               layer("MaxPooling2D", "pool", R"("pool_size": [2, 2])" + first),
               layer("UpSampling2D", "up", R"("size": [2, 3])" + first),
               layer("Cropping2D", "crop", R"("cropping": [[1, 1], [0, 2]])" + first),
               layer("Conv2DTranspose", "grow", R"("filters": 4, "kernel_size": [2, 2], "strides": [2, 2])" + first),
               layer("GlobalAveragePooling2D", "gap", R"("keepdims": false)" + first),
               layer("Dense", "fc", R"("units": 2)")}));
    CHECK(layer_named(w, "conv").input == Shape{3, 225, 195});
    CHECK(layer_named(w, "conv").output == Shape{8, 113, 98});
    CHECK(layer_named(w, "pool").output == Shape{8, 56, 49});
    CHECK(layer_named(w, "up").output == Shape{8, 112, 147});
    CHECK(layer_named(w, "crop").output == Shape{8, 110, 145});
    CHECK(layer_named(w, "grow").output == Shape{4, 220, 290});
    // Norm 16; depthwise 9 x 8 + 8; transposed 4 x 8 x 4 + 4; 4 x 2 + 2.
    CHECK(w.model.parameters == 224 + 16 + 80 + 132 + 10);
    CHECK_THAT(error_of(chain("3, 8, 8", {layer("Conv2D", "a", R"("filters": 8, "kernel_size": 1)" + first),
                                          layer("Conv2D", "b",
                                                R"("filters": 8, "kernel_size": 1, "data_format": "channels_last")")})),
               Catch::Contains("Conv2D \"b\"") && Catch::Contains("give all of them one data_format"));
    CHECK_THAT(error_of(chain("3, 8, 8", {layer("Conv2D", "a", R"("filters": 8, "kernel_size": 1)" + first),
                                          layer("BatchNormalization", "n", "")})),
               Catch::Contains("only the channels are known, axis 1"));
    CHECK_THAT(error_of(chain("8, 3", {layer("Conv1D", "a", R"("filters": 8, "kernel_size": 1)" + first)})),
               Catch::Contains("data_format is \"channels_first\"") && Catch::Contains("put a Permute before it"));
}

// What Keras's summary says of Dense behind a global pooling: 8 x 10 + 10 = 90.
TEST_CASE("a global pooling of Keras leaves a vector unless it keeps its sides", "[model][keras]") {
    for (const char* kind : {"GlobalAveragePooling2D", "GlobalMaxPooling2D"}) {
        const auto vector = of_chain("4, 4, 8", {layer(kind, "gap", ""), layer("Dense", "fc", R"("units": 10)")});
        CHECK(vector.parameters == 90);
        CHECK(vector.output == Shape{10});
        const auto image = of_chain("4, 4, 8", {layer(kind, "gap", R"("keepdims": true)"),
                                                layer("Conv2D", "fc", R"("filters": 10, "kernel_size": 1)")});
        CHECK(image.parameters == 90);
    }
}

// Sides by hand: dilation [8, 1] spans 8 x 2 + 1 = 17 rows, so 40 - 17 + 1 = 24; strides [2, 1] leave (40 - 3) / 2 + 1
// = 19 rows and 30 - 3 + 1 = 28 columns.
TEST_CASE("strides and dilations of Keras are read along each axis", "[model][keras]") {
    const auto out = [](const std::string& kind, const std::string& config) {
        return of_chain("40, 30, 4", {layer(kind, "x", config)}).output;
    };
    const std::string conv = R"("filters": 4, "kernel_size": [3, 3], )", deep = R"("kernel_size": [3, 3], )";
    CHECK(out("Conv2D", conv + R"("dilation_rate": [8, 1])") == Shape{4, 24, 28});
    CHECK(out("DepthwiseConv2D", deep + R"("dilation_rate": [8, 1])") == Shape{4, 24, 28});
    CHECK(out("SeparableConv2D", conv + R"("dilation_rate": [8, 1])") == Shape{4, 24, 28});
    CHECK(out("Conv2D", conv + R"("strides": [2, 1])") == Shape{4, 19, 28});
    CHECK(out("DepthwiseConv2D", deep + R"("strides": [2, 1])") == Shape{4, 19, 28});
    CHECK(out("SeparableConv2D", conv + R"("strides": [2, 1], "padding": "same")") == Shape{4, 20, 30});
    // Pooling strides by its own size: 40 / 2 and 30 / 3.
    CHECK(out("MaxPooling2D", R"("pool_size": [2, 3])") == Shape{4, 20, 10});
    CHECK(out("AveragePooling2D", R"("pool_size": [2, 3], "strides": [1, 3])") == Shape{4, 39, 10});
    // Transposed, valid: 40 x 2 + max(3 - 2, 0) = 81 and 30 x 1 + 2 = 32; a stride above the kernel: 40 x 5 = 200; with
    // an output_padding of 1: 39 x 2 + 3 - 2 + 1 = 80.
    CHECK(out("Conv2DTranspose", conv + R"("strides": [2, 1])") == Shape{4, 81, 32});
    CHECK(out("Conv2DTranspose", conv + R"("strides": [5, 5])") == Shape{4, 200, 150});
    CHECK(out("Conv2DTranspose", conv + R"("strides": [2, 2], "padding": "same", "output_padding": [1, 1])") ==
          Shape{4, 80, 60});
    CHECK(out("Conv2DTranspose", conv + R"("dilation_rate": [2, 2])") == Shape{4, 44, 34});
    // Over time: 40 steps; a causal convolution keeps them.
    const auto over_time = [](const std::string& kind, const std::string& config) {
        return of_chain("40, 4", {layer(kind, "x", config)}).output;
    };
    const std::string one = R"("filters": 6, "kernel_size": [3])";
    CHECK(over_time("Conv1D", one + R"(, "dilation_rate": [8])") == Shape{24, 6});
    CHECK(over_time("Conv1D", one + R"(, "dilation_rate": [8], "padding": "causal")") == Shape{40, 6});
    CHECK(over_time("Conv1D", one + R"(, "strides": [2])") == Shape{19, 6});
    CHECK(over_time("SeparableConv1D", one + R"(, "strides": [2])") == Shape{19, 6});
    CHECK(over_time("DepthwiseConv1D", R"("kernel_size": 3, "depth_multiplier": 2)") == Shape{38, 8});
    CHECK(over_time("Conv1DTranspose", one + R"(, "strides": [2], "padding": "same")") == Shape{80, 6});
    CHECK(over_time("MaxPooling1D", R"("pool_size": [3])") == Shape{13, 4});
    CHECK(over_time("GlobalAveragePooling1D", "") == Shape{4});
    CHECK(over_time("ZeroPadding1D", R"("padding": [2, 1])") == Shape{43, 4});
    CHECK(over_time("Cropping1D", R"("cropping": [2, 1])") == Shape{37, 4});
    CHECK(over_time("UpSampling1D", R"("size": 2)") == Shape{80, 4});
}

// Parameters as Keras counts them: Conv1D 3 x 4 x 6 + 6 = 78; separable 3 x 4 + 4 x 6 + 6 = 42, of which an "unused"
// bias is none; depthwise 3 x 4 x 2 + 8 = 32; transposed in 2 groups 9 x 4 x 6 / 2 + 6 = 114.
TEST_CASE("groups, multipliers and biases of Keras convolutions count", "[model][keras]") {
    const std::string one = R"("filters": 6, "kernel_size": [3])";
    CHECK(of_chain("40, 4", {layer("Conv1D", "x", one)}).parameters == 78);
    CHECK(of_chain("40, 4", {layer("Conv1D", "x", one + R"(, "groups": 2, "use_bias": false)")}).parameters == 36);
    CHECK(of_chain("40, 4", {layer("SeparableConv1D", "x", one)}).parameters == 42);
    CHECK(of_chain("40, 4", {layer("SeparableConv1D", "x", one + R"(, "depth_multiplier": 2)")}).parameters ==
          24 + 48 + 6);
    CHECK(of_chain("40, 4", {layer("SeparableConv1D", "x", one + R"(, "use_bias": false)")}).parameters == 36);
    CHECK(of_chain("40, 4", {layer("DepthwiseConv1D", "x", R"("kernel_size": 3, "depth_multiplier": 2)")}).parameters ==
          32);
    CHECK(of_chain("8, 8, 4", {layer("Conv2DTranspose", "x", R"("filters": 6, "kernel_size": 3, "groups": 2)")})
              .parameters == 114);
    const auto frozen = good_workload(
        chain("8, 8, 4", {layer("SeparableConv2D", "x", R"("filters": 6, "kernel_size": 3, "trainable": false)"),
                          layer("Dense", "fc", R"("units": 2)")}));
    CHECK(frozen.model.trainable_parameters == 6 * 2 + 2);  // over the channels of each place
    CHECK(layer_named(frozen, "fc").output == Shape{2, 6, 6});
}

// The same Dense twice: 16 x 16 + 16 = 272 parameters, 2 x 2 x 16 x 16 FLOPs; then 16 x 4 + 4.
// Keras's own counts: LSTM 4 (8 + 5 + 1) 5 = 280; GRU with two biases 3 (8 + 5 + 2) 5 = 225, with one 210.
TEST_CASE("recurrent layers of Keras have the biases that Keras gives them", "[model][keras]") {
    const auto counted = [](const std::string& kind, const std::string& config) {
        return of_chain("7, 8", {layer(kind, "r", R"("units": 5)" + config)}).parameters;
    };
    CHECK(counted("LSTM", "") == 280);
    CHECK(counted("LSTM", R"(, "use_bias": false)") == 260);
    CHECK(counted("GRU", "") == 225);
    CHECK(counted("GRU", R"(, "reset_after": false)") == 210);
    CHECK(of_chain("7, 8", {layer("LSTM", "r", R"("units": 5)")}).output == Shape{5});
    CHECK(of_chain("7, 8", {layer("LSTM", "r", R"("units": 5, "return_sequences": true, "go_backwards": true)")})
              .output == Shape{7, 5});
    const auto both = [](const std::string& more) {
        return of_chain("7, 8", {layer("Bidirectional", "b", R"("layer": {"class_name": "LSTM", "config": {"units": 5,
            "return_sequences": true}})" + more)});
    };
    CHECK(both("").parameters == 560);
    CHECK(both("").output == Shape{7, 10});
    CHECK(both(R"(, "merge_mode": "sum")").output == Shape{7, 5});
    CHECK_THAT(
        error_of(chain("7, 8", {layer("Bidirectional", "b", R"("merge_mode": "mix", "layer": {"class_name": "LSTM",
        "config": {"units": 5}})")})),
        Catch::Contains("merge_mode is \"mix\"; it should be"));
    // An encoder's states start its decoder: 280 + 4 (3 + 5 + 1) 5 = 180.
    const auto w = good_workload(functional(
        {input("in", "7, 8"), input("out", "7, 3"),
         layer("LSTM", "encoder", R"("units": 5, "return_sequences": true, "return_state": true)", reads({"in"})),
         layer("LSTM", "decoder", R"("units": 5)",
               R"([[["out", 0, 0, {}], ["encoder", 0, 1, {}], ["encoder", 0, 2, {}]]])")},
        R"(, "output_layers": [["decoder", 0, 0]])"));
    CHECK(w.model.parameters == 280 + 180);
    CHECK(layer_named(w, "decoder").input == Shape{7, 3});
}

// Query, key and value 16 x 12 + 12 each (3 heads of 4), out 12 x 16 + 16: 3 x 204 + 208 = 820. With values of 2 a head
// and 5 columns out: 2 x 204 + (16 x 6 + 6) + (6 x 5 + 5) = 545. Scores and sums: 2 x 7 x 9 x 3 (4 + 2).
TEST_CASE("attention of Keras has its own sizes of keys, values and output", "[model][keras]") {
    const auto self = good_workload(functional(
        {input("in", "7, 16"), layer("MultiHeadAttention", "a", R"("num_heads": 3, "key_dim": 4)", reads({"in+in"}))}));
    CHECK(self.model.parameters == 820);
    CHECK(layer_named(self, "a.attn.scores").causal == false);
    const auto cross = good_workload(
        functional({input("in", "7, 16"), input("memory", "9, 16"),
                    layer("MultiHeadAttention", "a",
                          R"("num_heads": 3, "key_dim": 4, "value_dim": 2, "output_shape": [5], "dropout": 0.1)",
                          R"([[["in", 0, 0, {"value": ["memory", 0, 0], "use_causal_mask": false}]]])")}));
    CHECK(cross.model.parameters == 545);
    CHECK(layer_named(cross, "a.attn.out").output == Shape{7, 5});
    CHECK(forward_flops(layer_named(cross, "a.attn.scores")) == 2.0 * 7 * 9 * 3 * (4 + 2));
    CHECK(layer_named(cross, "a.attn.scores").dropout);
}

// gamma and beta of 6 channels; one of them; none. A layer norm of an image is over its channels.
TEST_CASE("norms and slopes of Keras count what is learned", "[model][keras]") {
    const auto counted = [](const std::string& kind, const std::string& config) {
        return of_chain("4, 5, 6", {layer(kind, "n", config)}).parameters;
    };
    for (const char* kind : {"BatchNormalization", "LayerNormalization"}) {
        CHECK(counted(kind, R"("axis": [3])") == 12);
        CHECK(counted(kind, R"("axis": -1, "scale": false)") == 6);
        CHECK(counted(kind, R"("center": false)") == 6);
        CHECK(counted(kind, R"("center": false, "scale": false)") == 0);
    }
    CHECK(counted("GroupNormalization", R"("groups": 2)") == 12);
    CHECK(counted("RMSNormalization", "") == 6);
    CHECK(counted("PReLU", "") == 120);
    CHECK(counted("PReLU", R"("shared_axes": [1, 2])") == 6);
    CHECK_THAT(error_of(chain("4, 5, 6", {layer("LayerNormalization", "n", R"("axis": [1, 2])")})),
               Catch::Contains("axis is [1,2]; only the last axis is known"));
}

TEST_CASE("shapes of Keras are followed in its own order", "[model][keras]") {
    const auto out = [](const std::string& shape, const std::string& kind, const std::string& config) {
        return of_chain(shape, {layer(kind, "x", config)}).output;
    };
    // [height, width, channels] becomes [channels, height, width].
    CHECK(out("96", "Reshape", R"("target_shape": [4, -1, 6])") == Shape{6, 4, 4});
    CHECK(out("4, 5, 6", "Reshape", R"("target_shape": [-1, 6])") == Shape{20, 6});
    CHECK(out("4, 5, 6", "Permute", R"("dims": [3, 1, 2])") == Shape{5, 6, 4});
    CHECK(out("7, 8", "Permute", R"("dims": [2, 1])") == Shape{8, 7});
    CHECK(out("8", "RepeatVector", R"("n": 7)") == Shape{7, 8});
    CHECK(out("4, 5, 6", "Resizing", R"("height": 9, "width": 3)") == Shape{6, 9, 3});
    // Dense on a sequence works on each token: 8 x 3 + 3.
    const auto tokens = of_chain(
        "7, 8", {layer("TimeDistributed", "t", R"("layer": {"class_name": "Dense", "config": {"units": 3}})")});
    CHECK(tokens.output == Shape{7, 3});
    CHECK(tokens.parameters == 27);
    CHECK_THAT(error_of(chain("96", {layer("Reshape", "x", R"("target_shape": [5, -1])")})),
               Catch::Contains("target_shape is [5,-1]; it should hold the 96 elements"));
    // Along the height nothing comes to the channels; a gate of one a channel spreads.
    const auto w = good_workload(
        functional({input("in", "4, 5, 6"), layer("Concatenate", "high", R"("axis": 1)", reads({"in+in"})),
                    layer("GlobalAveragePooling2D", "gap", R"("keepdims": true)", reads({"high"})),
                    layer("Multiply", "gate", "", reads({"gap+high"}))}));
    CHECK(layer_named(w, "high").output == Shape{6, 8, 5});
    CHECK(layer_named(w, "gate").output == Shape{6, 8, 5});
}

TEST_CASE("values that Keras does not know are refused with place, value and remedy", "[model][keras][bad]") {
    const std::string conv = R"("filters": 8, "kernel_size": 3)";
    const auto fault = [](const std::string& shape, const std::string& kind, const std::string& config) {
        return error_of(chain(shape, {layer(kind, "x", config)}));
    };
    CHECK(fault("8, 8, 3", "Conv2D", conv + R"(, "padding": "weird")") ==
          "model description:2:106: Conv2D \"x\": padding is \"weird\"; it should be \"valid\" or \"same\"");
    CHECK_THAT(fault("8, 8, 3", "Conv2D", conv + R"(, "padding": "causal")"), Catch::Contains("padding is \"causal\""));
    CHECK_THAT(fault("8, 3", "Conv1D", conv + R"(, "padding": 1)"),
               Catch::Contains("padding is 1; it should be \"valid\" or \"same\" or \"causal\""));
    CHECK_THAT(fault("8, 8, 3", "Conv2D", conv + R"(, "trainable": "yes")"),
               Catch::Contains("trainable is \"yes\"; it should be true or false"));
    CHECK_THAT(fault("8, 8, 3", "Conv2D", conv + R"(, "use_bias": "no")"), Catch::Contains("use_bias is \"no\""));
    CHECK_THAT(fault("8, 8, 3", "Conv2D", conv + R"(, "strides": [0, 1])"), Catch::Contains("strides is [0,1]"));
    CHECK_THAT(fault("8, 8, 3", "Conv2D", conv + R"(, "strides": [1, 1, 1])"), Catch::Contains("or [height, width]"));
    CHECK_THAT(fault("8, 8, 3", "Conv2D", conv + R"(, "data_format": "nhwc")"),
               Catch::Contains("data_format is \"nhwc\""));
    CHECK_THAT(fault("8, 8, 3", "Conv2D", conv + R"(, "activation": "wave")"),
               Catch::Contains("activation is \"wave\""));
    CHECK_THAT(fault("8, 8, 3", "Conv2D", R"("kernel_size": 3)"), Catch::Contains("needs \"filters\""));
    CHECK_THAT(fault("2, 2, 3", "Conv2D", conv), Catch::Contains("larger than its input [2, 2, 3]"));
    CHECK_THAT(fault("8, 3", "Conv2D", conv), Catch::Contains("needs an image [height, width, channels]"));
    CHECK_THAT(fault("8, 8, 3", "Lambda", ""), Catch::Contains("no counterpart for the Keras layer \"Lambda\""));
    CHECK_THAT(fault("8, 8, 3", "TFOpLambda", R"("function": "math.reduce_mean")"),
               Catch::Contains("(math.reduce_mean)"));
    CHECK_THAT(fault("8, 8, 3", "TimeDistributed", R"("layer": {"class_name": "Conv2D", "config": {}})"),
               Catch::Contains("holds Conv2D"));
    CHECK_THAT(
        error_of(R"({"class_name": "Sequential", "config": {"trainable": "no", "layers": [)" + input("i", "8") + "]}}"),
        Catch::Contains("trainable of a model is a string"));
    CHECK_THAT(error_of(functional({input("in", "8"), layer("Dense", "a", R"("units": 2)", reads({"im"}))})),
               Catch::Contains("reads \"im\", which is no layer of this model; did you mean \"in\"?"));
    CHECK_THAT(error_of(functional({input("in", "8"), layer("Dense", "a", R"("units": 8)", reads({"in", "a"})),
                                    layer("Dense", "b", R"("units": 2)", reads({"a@2"}))})),
               Catch::Contains("call 3 of \"a\" is read, which is called 2 times"));
    CHECK_THAT(error_of(functional({input("in", "8"), layer("Dense", "a", R"("units": 2)", reads({"in"})),
                                    layer("Dense", "a", R"("units": 2)", reads({"in"}))})),
               Catch::Contains("two layers are named \"a\""));
}

// 32 x 64 + 64 = 2112, and beside it 4 x (32 + 64) = 384 of the adapter, which train with the 64 biases; a table of
// 10 x 6 with 2 x (10 + 6). Three dimensions: 1 x 1 convolutions.
TEST_CASE("Keras's LoRA trains thin matrices beside what it freezes", "[model][keras]") {
    const auto w =
        good_workload(chain("32", {layer("Dense", "d", R"("units": 64, "lora_rank": 4, "activation": "relu")"),
                                   layer("Dense", "fc", R"("units": 2)")}));
    CHECK(w.model.parameters == 2112 + 384 + 64 * 2 + 2);
    CHECK(w.model.trainable_parameters == 384 + 64 + 64 * 2 + 2);
    CHECK(layer_named(w, "fc").input == Shape{64});
    const auto table =
        good_workload(chain("5", {layer("Embedding", "e", R"("input_dim": 10, "output_dim": 6, "lora_rank": 2)")}));
    CHECK(table.model.parameters == 60 + 32);
    CHECK(table.model.trainable_parameters == 32);
    const auto image =
        good_workload(chain("7, 8, 32", {layer("Dense", "d", R"("units": 64, "lora_rank": 4, "use_bias": false)")}));
    CHECK(image.model.trainable_parameters == 384);
    const auto frozen =
        good_workload(chain("32", {layer("Dense", "d", R"("units": 64, "lora_rank": 4, "trainable": false)")}));
    CHECK(frozen.model.trainable_parameters == 0);
    CHECK_THAT(error_of(chain("8, 8, 3", {layer("Conv2D", "c", R"("filters": 4, "kernel_size": 3, "lora_rank": 2)")})),
               Catch::Contains("lora_rank is 2; it is known of Dense and Embedding alone"));
}

TEST_CASE("the dtype policy of a Keras model is its precision, unless the training says another", "[model][keras]") {
    const auto [policy, precision] = GENERATE(table<std::string, Precision>({
        {R"({"class_name": "Policy", "config": {"name": "mixed_float16"}})", Precision::amp},
        {R"({"class_name": "DTypePolicy", "config": {"name": "mixed_bfloat16"}})", Precision::bf16},
        {R"("float16")", Precision::fp16},
        {R"("bfloat16")", Precision::bf16},
    }));
    CAPTURE(policy);
    const std::string net = chain("32", {layer("Dense", "d", R"("units": 64, "dtype": )" + policy)});
    const auto w = good_workload(net);
    CHECK(w.training.precision == precision);
    CHECK_THAT(w.assumed, !Catch::VectorContains(std::string("precision fp32 (not stated)")));
    CHECK(good_workload(R"({"training": {"precision": "tf32"}, "model": )" + net + "}").training.precision ==
          Precision::tf32);
    CHECK_THAT(good_workload(chain("32", {layer("Dense", "d", R"("units": 64, "dtype": "float32")")})).assumed,
               Catch::VectorContains(std::string("precision fp32 (not stated)")));
}

TEST_CASE("what Keras itself would not run is refused", "[model][keras][bad]") {
    const std::string int8 =
        R"("units": 4, "dtype": {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8", "source_name": "float32"}})";
    CHECK_THAT(error_of(chain("8", {layer("Dense", "d", int8)})),
               Catch::Contains("dtype policy \"int8\" is of a quantised model"));
    CHECK_THAT(error_of(functional({input("in", "8"), layer("Dense", "a", R"("units": 8)", reads({"in"})),
                                    layer("Dense", "b", R"("units": 2)", reads({"a@3"}))})),
               Catch::Contains("call 4 of \"a\" is read, which is called once; write the model with Keras again"));
    CHECK_THAT(error_of(chain("16, 16, 4", {layer("Conv2D", "c", R"("filters": 8, "kernel_size": 3, "strides": 2,
                                                                   "dilation_rate": [2, 2])")})),
               Catch::Contains("dilation_rate is [2,2]; Keras takes it with strides of 1 alone, and they are [2, 2]"));
    const std::string lie =
        R"([{"args": [{"class_name": "__keras_tensor__", "config": {"shape": [null, 9], "keras_history": ["in", 0, 0]}}]}])";
    CHECK_THAT(error_of(functional({input("in", "8"), layer("Dense", "a", R"("units": 8)", lie)})),
               Catch::Contains("\"a\" reads [null,9] of \"in\", which leaves [8] behind the batch"));
}
