// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "onnx_test_support.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using namespace onnx_writer;

TEST_CASE("convolutions with biases and no norm may have had their batch norms folded into them", "[model][onnx]") {
    const auto warned = [](const std::string& more) {
        const auto w = good(model(input("x", {1, 3, 8, 8}) + weight("w", {3, 3, 1, 1}) + weight("b", {3}) +
                                  node("Conv", {"x", "w", "b"}, "c") + more));
        return std::any_of(w.assumed.begin(), w.assumed.end(), [](const std::string& text) {
            return text.starts_with("no batch norms: ") && text.ends_with("do_constant_folding=False");
        });
    };
    CHECK(warned(node("Relu", {"c"}, "y")));
    CHECK_FALSE(warned(node("BatchNormalization", {"c", "b", "b", "b", "b"}, "y")));
    CHECK_FALSE(warned(node("Conv", {"c", "w"}, "y")));
}

TEST_CASE("a graph that PyTorch named is shown by its file's name", "[model][onnx]") {
    const ScratchFolder scratch;
    const auto name_of = [&](const std::string& graph) {
        const auto declaration = read_model_argument(
            scratch.write("unet.onnx", model(input("x", {1, 8}) + node("Relu", {"x"}, "y"), 13, graph)));
        if (!declaration) FAIL(declaration.error().message);
        return to_workload(*declaration)->model.name;
    };
    for (const char* graph : {"torch_jit", "main_graph", "torch-jit-export", ""}) CHECK(name_of(graph) == "unet");
    CHECK(name_of("net") == "net");
}

// 3 x 3 x 3 x 8 + 8 = 224; batch norm 2 x 8 = 16; 8 x 10 + 10 = 90.
TEST_CASE("a convolutional ONNX graph keeps its shapes and parameters", "[model][onnx]") {
    const auto w =
        good(model(input("x", {0, 3, 32, 32}) + weight("w", {8, 3, 3, 3}) + weight("b", {8}) + weight("s", {8}) +
                   weight("fc", {10, 8}) + weight("fb", {10}) +
                   node("Conv", {"x", "w", "b"}, "c",
                        ints("kernel_shape", {3, 3}) + ints("strides", {2, 2}) + ints("pads", {1, 1, 1, 1})) +
                   node("BatchNormalization", {"c", "s", "s", "s", "s"}, "n") + node("Relu", {"n"}, "r") +
                   node("GlobalAveragePool", {"r"}, "g") + node("Flatten", {"g"}, "f") +
                   node("Gemm", {"f", "fc", "fb"}, "y", integer("transB", 1))));
    CHECK(w.model.layers[0].output == Shape{8, 16, 16});
    CHECK(w.model.parameters == 224 + 16 + 90);
    CHECK(w.model.name == "net");
    CHECK(forward_flops(w.model) == 2.0 * 16 * 16 * 8 * 27 + 2.0 * 80);
}

TEST_CASE("padding on one side alone gives the result that the graph has", "[model][onnx]") {
    // (8 + 1 - 3) / 2 + 1 = 4
    const auto w = good(model(input("x", {1, 1, 8, 8}) + weight("w", {4, 1, 3, 3}) +
                              node("Conv", {"x", "w"}, "c", ints("strides", {2, 2}) + ints("pads", {0, 0, 1, 1}))));
    CHECK(w.model.layers[0].output == Shape{4, 4, 4});
    CHECK(w.model.parameters == 36);
}

// Shape -> Gather -> Unsqueeze -> Concat -> Reshape: how exporters write x.view(x.size(0), -1).
TEST_CASE("shapes that the graph computes are followed", "[model][onnx]") {
    const auto w =
        good(model(input("x", {2, 4, 3, 5}) + numbers("zero", {0}) + numbers("rest", {-1}) + weight("m", {60, 7}) +
                   node("Shape", {"x"}, "s") + node("Gather", {"s", "zero"}, "d", integer("axis", 0)) +
                   node("Concat", {"d", "rest"}, "t", integer("axis", 0)) + node("Reshape", {"x", "t"}, "f") +
                   node("MatMul", {"f", "m"}, "y")));
    CHECK(w.model.parameters == 420);
    CHECK(w.model.layers[0].input == Shape{60});
}

// b h i d times b h j d: 2 x 2 x 4 x 8 x 5 x 16; then with a learned matrix d e: 5 x 3 numbers.
TEST_CASE("an Einsum is the product that its labels say", "[model][onnx]") {
    const auto w = good(model(input("q", {1, 2, 4, 16}) + input("k", {1, 2, 8, 16}) + weight("m", {8, 3}) +
                                  node("Einsum", {"q", "k"}, "s", text("equation", "bhid,bhjd->bhij")) +
                                  node("Einsum", {"s", "m"}, "y", text("equation", "bhij,je->bhie")),
                              13));
    CHECK(w.model.parameters == 8 * 3);
    CHECK(forward_flops(w.model) == 2.0 * 2 * 4 * 8 * 16 + 2.0 * 2 * 4 * 8 * 3);
    for (const char* equation : {"ij,jk", "...ij,jk->...ik", "ij,jk->iz", "ijk,jk->i", ""}) {
        CAPTURE(equation);
        CHECK_FALSE(error_of_file(model(input("q", {1, 8}) + weight("m", {8, 3}) +
                                        node("Einsum", {"q", "m"}, "y", text("equation", equation))))
                        .empty());
    }
}

// What exporters wrote as attributes up to opset 12 and as inputs from 13 on is the same; so is every version between.
TEST_CASE("operators of opset 9 to 21 are read alike", "[model][onnx]") {
    const auto net = [](std::int64_t opset) {
        const bool inputs = opset >= 13;
        return model(
            input("x", {1, 4, 6}) + weight("m", {6, 5}) + numbers("axes", {1}) + numbers("parts", {2, 2}) +
                (inputs ? node("Unsqueeze", {"x", "axes"}, "u") + node("Squeeze", {"u", "axes"}, "q")
                        : node("Unsqueeze", {"x"}, "u", ints("axes", {1})) +
                              node("Squeeze", {"u"}, "q", ints("axes", {1}))) +
                node("MatMul", {"q", "m"}, "y") +
                (inputs ? node("ReduceSum", {"y", "axes"}, "z") : node("ReduceSum", {"y"}, "z", ints("axes", {1}))),
            opset);
    };
    for (std::int64_t opset = 9; opset <= 21; ++opset) {
        CAPTURE(opset);
        const auto w = good(net(opset));
        CHECK(w.model.parameters == 30);
        CHECK(forward_flops(w.model) == 2.0 * 4 * 6 * 5);
    }
}

// The file that a tensor names as the place of its data does not exist: nobody asks for it.
TEST_CASE("data outside of an ONNX file is never opened", "[model][onnx]") {
    const std::string place = bytes(13, bytes(1, "location") + bytes(2, "/nonexistent/weights.bin"));
    const std::string outside =
        bytes(5, varint(1, 8) + varint(1, 3) + varint(2, 1) + bytes(8, "w") + place + varint(14, 1));
    const auto w = good(model(input("x", {1, 8}) + outside + node("MatMul", {"x", "w"}, "y")));
    CHECK(w.model.parameters == 24);
}

// Fifty equal blocks of a linear layer and a GELU; the payload holds one of them.
TEST_CASE("equal blocks of an ONNX graph travel once", "[model][onnx]") {
    std::string graph = input("x0", {1, 128, 64});
    for (int i = 0; i < 50; ++i) {
        const std::string at = std::to_string(i);
        graph += weight("w" + at, {64, 64}) + node("MatMul", {"x" + at, "w" + at}, "m" + at) +
                 node("Gelu", {"m" + at}, "x" + std::to_string(i + 1));
    }
    const std::string file = model(graph, 20);
    ByteStream stream(file);
    const auto written = onnx_to_written(stream, "net.onnx");
    REQUIRE(written);
    CHECK(written->find("layers")->as_array().size() <= 3);
    CHECK(good(file).model.parameters == 50 * 64 * 64);
}

TEST_CASE("open dimensions take usual sizes, and say so", "[model][onnx]") {
    const auto w = good(model(input("x", {0, 0, 8}) + weight("m", {8, 8}) + node("MatMul", {"x", "m"}, "y")));
    CHECK(w.model.layers[0].input == Shape{128, 8});
    CHECK(std::any_of(w.assumed.begin(), w.assumed.end(), [](const std::string& text) {
        return text == "dimension 1 of input x is 128 (open in the file)";
    }));
}

TEST_CASE("all unknown operators are named at once", "[model][onnx][bad]") {
    const std::string graph = input("x", {1, 8}) + node("Wavelet", {"x"}, "a") + node("Hologram", {"a"}, "b");
    CHECK_THAT(error_of_file(model(graph)), Catch::Contains("2 operators") && Catch::Contains("Hologram, Wavelet"));
}

TEST_CASE("broken ONNX files are refused with a reason", "[model][onnx][bad]") {
    const std::string whole =
        model(input("x", {1, 3, 8, 8}) + weight("w", {4, 3, 3, 3}) + node("Conv", {"x", "w"}, "c"));
    REQUIRE(error_of_file(whole).empty());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(size);
        CHECK_FALSE(error_of_file(whole.substr(0, size)).empty());
    }
    CHECK_THAT(error_of_file(model(input("x", {1, 3, 8, 8}) + node("Conv", {"x", "w"}, "c"))),
               Catch::Contains("reads \"w\", which no earlier node makes"));
    CHECK_THAT(error_of_file(model(input("x", {1, 3}) + weight("w", {4, 3, 3, 3}) + node("Conv", {"x", "w"}, "c"))),
               Catch::Contains("needs a signal or an image"));
    CHECK_THAT(error_of_file(model(input("x", {5, 3}) + node("Relu", {"y"}, "c"))), Catch::Contains("no earlier node"));
    CHECK_FALSE(error_of_file(model(input("x", {1, 1'000'000'000, 1'000'000'000}) + node("Relu", {"x"}, "c"))).empty());
    CHECK_FALSE(error_of_file(varint(1, 8) + bytes(7, bytes(1, std::string(100, '\x0a')))).empty());
}

// PyTorch writes opset_version 9 to 21 with operators that are known; later ones are newer than this reader, and none
// was published beyond 30.
TEST_CASE("an opset outside of those read is refused, a newer one is named", "[model][onnx]") {
    const std::string graph = input("x", {1, 8}) + weight("m", {8, 3}) + node("MatMul", {"x", "m"}, "y");
    for (const std::int64_t opset : {1, 8, 31, 99}) {
        CAPTURE(opset);
        CHECK(error_of_file(model(graph, opset)) == fmt::format("net.onnx: its opset is {}; 9 to 21 are read, 22 to 30 "
                                                                "as 21: export the model again with opset_version=17",
                                                                opset));
    }
    CHECK_THAT(error_of_file(varint(1, 8) + bytes(7, graph)),
               Catch::Contains("no opset is stated; 9 to 21 are read, 22 to 30 as 21"));
    CHECK(good(model(graph, 21)).model.parameters == 24);
    const auto newer = good(model(graph, 23));
    CHECK(std::count(newer.assumed.begin(), newer.assumed.end(),
                     "opset 23 means what 21 does (newer than dlcast knows)") == 1);
    CHECK_THAT(error_of_file(model(input("x", {1, 8}) + node("Swish", {"x"}, "y"), 24)), Catch::Contains("Swish"));
}

TEST_CASE("a tensor of an ONNX graph has one maker", "[model][onnx][bad]") {
    const std::string start = input("x", {1, 8}) + weight("m", {8, 8});
    CHECK_THAT(error_of_file(model(start + node("MatMul", {"x", "m"}, "y") + node("Relu", {"x"}, "y"))),
               Catch::Contains("Relu \"/y\": makes \"y\", which the graph has already"));
    CHECK_THAT(error_of_file(model(start + node("MatMul", {"x", "m"}, "m"))), Catch::Contains("makes \"m\""));
    CHECK_THAT(error_of_file(model(start + weight("m", {8, 2}) + node("MatMul", {"x", "m"}, "y"))),
               Catch::Contains("two weights are named \"m\""));
}

TEST_CASE("sizes of an ONNX graph that contradict each other are refused", "[model][onnx][bad]") {
    const auto conv = [](const Sizes& image, const Sizes& shape, const std::string& attributes) {
        return error_of_file(model(input("x", image) + weight("w", shape) + node("Conv", {"x", "w"}, "c", attributes)));
    };
    CHECK_THAT(conv({1, 3, 8, 8}, {4, 3, 3, 3}, ints("kernel_shape", {5, 5})),
               Catch::Contains("its kernel_shape [5, 5] is not that of its weight [4, 3, 3, 3]"));
    CHECK_THAT(conv({1, 6, 8, 8}, {4, 3, 3, 3}, ""), Catch::Contains("reads 3 channels, its input [1, 6, 8, 8] has 6"));
    CHECK(conv({1, 6, 8, 8}, {4, 3, 3, 3}, integer("group", 2)).empty());
    CHECK_THAT(error_of_file(model(input("x", {1, 8}) + weight("w", {4, 9}) +
                                   node("Gemm", {"x", "w"}, "y", integer("transB", 1)))),
               Catch::Contains("[1, 8] and [4, 9] do not fit"));
    CHECK_THAT(conv({1, 3, 8, 8}, {4, 3, 3, 3}, text("auto_pad", "SAME")), Catch::Contains("its auto_pad is none of"));
    CHECK_THAT(conv({1, 3, 8, 8}, {4, 3, 3, 3}, ints("strides", {0, 1})),
               Catch::Contains("kernel [3, 3], strides [0, 1]"));
    const auto lstm = [](const std::string& attributes) {
        return error_of_file(model(input("x", {7, 1, 6}) + weight("W", {1, 20, 6}) + weight("R", {1, 20, 5}) +
                                   node("LSTM", {"x", "W", "R"}, "y", attributes)));
    };
    CHECK_THAT(lstm(integer("hidden_size", 4)), Catch::Contains("its weight [1, 20, 6] should be [1, 16, 6]"));
    CHECK_THAT(lstm(integer("hidden_size", 5) + text("direction", "up")), Catch::Contains("its direction is \"up\""));
    CHECK_THAT(error_of_file(model(input("x", {1, 8, 4, 4}) + weight("s", {7}) +
                                   node("BatchNormalization", {"x", "s", "s", "s", "s"}, "y"))),
               Catch::Contains("its scale [7] does not fit the channels of its input [1, 8, 4, 4]"));
}

TEST_CASE("a dimension below 1 is refused, and -1 is an open one", "[model][onnx][bad]") {
    const std::string rest = weight("m", {8, 8}) + node("MatMul", {"x", "m"}, "y");
    CHECK(error_of_file(model(input("x", {1, -8, 8}) + rest)) ==
          "net.onnx: dimension 1 of the input \"x\" is -8; export the model with its size, or leave it open");
    const std::string zero = bytes(1, varint(1, 1)) + bytes(1, varint(1, 0)) + bytes(1, varint(1, 8));
    CHECK_THAT(error_of_file(model(input_of("x", zero) + rest)),
               Catch::Contains("dimension 1 of the input \"x\" is 0;"));
    CHECK(good(model(input("x", {-1, -1, 8}) + rest)).model.layers[0].input == Shape{128, 8});
    CHECK_THAT(error_of_file(model(input("x", {1, 8}) + weight("m", {-8, 4}) + node("MatMul", {"x", "m"}, "y"))),
               Catch::Contains("the weight \"m\" has the shape [-8, 4]; each size should be from 0 on"));
    CHECK_THAT(error_of_file(model(input("x", {1, 8}) + node("Identity", {"x"}, "y"))),
               Catch::Contains("no operator of this graph computes; export the network itself"));
}

// One table of 10 x 8 = 80 numbers: looked up, and turned for the logits; 2 x 5 x 8 x 10 FLOPs. Twice the same layer of
// 8 x 8 + 8: 72.
TEST_CASE("a weight that two operators of an ONNX graph read counts once", "[model][onnx]") {
    const auto tied =
        good(model(input("ids", {1, 5}) + weight("table", {10, 8}) + node("Gather", {"table", "ids"}, "e") +
                   node("Transpose", {"table"}, "t", ints("perm", {1, 0})) + node("MatMul", {"e", "t"}, "logits")));
    CHECK(tied.model.parameters == 80);
    CHECK(forward_flops(tied.model) == 2.0 * 5 * 8 * 10);
    const auto twice = good(model(input("x", {1, 8}) + weight("w", {8, 8}) + weight("b", {8}) +
                                  node("Gemm", {"x", "w", "b"}, "a") + node("Gemm", {"a", "w", "b"}, "y")));
    CHECK(twice.model.parameters == 72);
    CHECK(forward_flops(twice.model) == 2.0 * 2 * 8 * 8);
}

// 4 x 2 = 8 with the same padding; 15 as the graph says.
TEST_CASE("a transposed ONNX convolution leaves the size that it says", "[model][onnx]") {
    const auto out = [](const std::string& attributes) {
        return good(model(input("x", {1, 3, 4, 4}) + weight("w", {3, 6, 3, 3}) +
                          node("ConvTranspose", {"x", "w"}, "c", ints("strides", {2, 2}) + attributes)))
            .model.layers[0]
            .output;
    };
    CHECK(out(text("auto_pad", "SAME_UPPER")) == Shape{6, 8, 8});
    CHECK(out(ints("output_shape", {9, 10})) == Shape{6, 9, 10});
    CHECK(out("") == Shape{6, 9, 9});
    const auto grouped = good(model(input("x", {1, 4, 4, 4}) + weight("w", {4, 3, 3, 3}) +
                                    node("ConvTranspose", {"x", "w"}, "c", integer("group", 2))));
    CHECK(grouped.model.parameters == 4 * 3 * 9);
}

// How PyTorch writes F.pad(x, (1, 2, 3, 4)): the pads padded with zeros to all axes, pairs turned around, begins and
// ends apart. [1, 2, 3, 4, 0, 0, 0, 0] becomes [0, 0, 3, 1, 0, 0, 4, 2]: 8 + 3 + 4 rows, 6 + 1 + 2 columns.
TEST_CASE("pads that a graph turns around are followed", "[model][onnx]") {
    const std::string turned =
        input("x", {1, 3, 8, 6}) + numbers("p", {1, 2, 3, 4}) + numbers("z", {0, 0, 0, 0}) + numbers("pairs", {-1, 2}) +
        numbers("last", {-1}) + numbers("first", {std::numeric_limits<std::int64_t>::min()}) + numbers("rows", {0}) +
        numbers("flat", {-1}) + weight("w", {4, 3, 1, 1}) + node("Concat", {"p", "z"}, "all", integer("axis", 0)) +
        node("Reshape", {"all", "pairs"}, "two") + node("Slice", {"two", "last", "first", "rows", "last"}, "back") +
        node("Transpose", {"back"}, "apart", ints("perm", {1, 0})) + node("Reshape", {"apart", "flat"}, "pads") +
        node("Cast", {"pads"}, "whole") + node("Pad", {"x", "whole"}, "padded") + node("Conv", {"padded", "w"}, "y");
    CHECK(good(model(turned)).model.layers[0].output == Shape{4, 15, 9});
}

// 8 x 2.5 = 20 and 6 x 4 = 24; along named axes alone; scales that the graph computes are refused.
TEST_CASE("an ONNX image is resized by its scales", "[model][onnx]") {
    const std::string start = input("x", {1, 3, 8, 6});
    const auto w = good(model(start + reals("s", {1, 1, 2.5F, 4}) + node("Resize", {"x", "", "s"}, "y")));
    CHECK(w.model.layers[0].output == Shape{3, 20, 24});
    const auto named =
        good(model(start + reals("s", {3}) + node("Resize", {"x", "", "s"}, "y", ints("axes", {3})), 18));
    CHECK(named.model.layers[0].output == Shape{3, 8, 18});
    CHECK(good(model(start + reals("s", {1, 1, 3, 3}) + node("Upsample", {"x", "s"}, "y"), 9)).model.layers[0].output ==
          Shape{3, 24, 18});
    CHECK_THAT(error_of_file(model(start + node("Resize", {"x"}, "y"))),
               Catch::Contains("its size is computed by the graph"));
}

// Norms over the last two dimensions at once learn 4 x 6 factors and shifts; PRelu its slopes; a recurrent layer
// without B has no biases: 4 (6 + 5) 5.
TEST_CASE("what ONNX operators learn is what their weights hold", "[model][onnx]") {
    const auto w = good(model(input("x", {1, 3, 4, 6}) + weight("s", {4, 6}) + weight("slopes", {3, 1, 1}) +
                                  node("LayerNormalization", {"x", "s", "s"}, "n", integer("axis", -2)) +
                                  node("PRelu", {"n", "slopes"}, "y"),
                              17));
    CHECK(w.model.parameters == 2 * 24 + 3);
    // Two heads with a matrix each, learned: 2 x 4 x 5; a matrix on the left: 3 x 8.
    const auto heads = good(model(input("x", {1, 2, 8, 4}) + weight("m", {2, 4, 5}) + weight("l", {3, 8}) +
                                  node("MatMul", {"x", "m"}, "h") + node("MatMul", {"l", "h"}, "y")));
    CHECK(heads.model.parameters == 2 * 4 * 5 + 3 * 8);
    CHECK(forward_flops(heads.model) == 2.0 * 2 * 8 * 4 * 5 + 2.0 * 2 * 3 * 8 * 5);
    const auto r = good(model(input("x", {7, 1, 6}) + weight("W", {1, 20, 6}) + weight("R", {1, 20, 5}) +
                              node("LSTM", {"x", "W", "R"}, "y", integer("hidden_size", 5))));
    CHECK(r.model.parameters == 4 * (6 + 5) * 5);
}

// PyTorch's GroupNorm(2, 8) behind 3 x 3 x 3 x 8 + 8 = 224 weights: two groups of 4 x 6 x 6 = 144 elements under
// constant ones and zeros, then 8 factors and 8 shifts.
TEST_CASE("constants of an ONNX graph learn nothing", "[model][onnx]") {
    const auto constant = [](const std::string& name, int type, std::int64_t count) {
        const std::string tensor = varint(1, count) + varint(2, type);
        return node("Constant", {}, name, bytes(5, bytes(1, "value") + bytes(5, tensor) + varint(20, 4)));
    };
    const std::string start = input("x", {1, 3, 8, 8}) + weight("w", {8, 3, 3, 3}) + weight("b", {8}) +
                              constant("ones", 1, 2) + constant("zeros", 1, 2) + numbers("rows", {0, 2, -1}) +
                              numbers("image", {1, 8, 6, 6}) + node("Conv", {"x", "w", "b"}, "c") +
                              node("Reshape", {"c", "rows"}, "r");
    const auto grouped =
        good(model(start + weight("gamma", {8, 1, 1}) + weight("beta", {8, 1, 1}) +
                   node("InstanceNormalization", {"r", "ones", "zeros"}, "n") + node("Reshape", {"n", "image"}, "i") +
                   node("Mul", {"i", "gamma"}, "m") + node("Add", {"m", "beta"}, "y")));
    CHECK(grouped.model.parameters == 224 + 2 * 8);
    // Of its own weights two a group; of a constant that is added none.
    const auto learned =
        good(model(start + weight("s", {2}) + constant("noise", 1, 144) +
                   node("InstanceNormalization", {"r", "s", "s"}, "n") + node("Add", {"n", "noise"}, "y")));
    CHECK(learned.model.parameters == 224 + 2 * 2);
    const auto factors = good(model(
        start + weight("s", {2}) + node("GroupNormalization", {"c", "s", "s"}, "n", integer("num_groups", 2)), 18));
    CHECK(factors.model.parameters == 224 + 2 * 2);
    CHECK(good(model(start + node("LRN", {"c"}, "y", integer("size", 5)))).model.parameters == 224);
}

// PyTorch's exporter keeps equal initializers once (two norms of ones and zeros), the second as an Identity: 2 x 8
// numbers each. Equal matrices are one tied tensor.
TEST_CASE("vectors of equal values in an ONNX graph are learned apart, equal matrices together", "[model][onnx]") {
    const auto w =
        good(model(input("x", {1, 8, 6, 6}) + weight("s", {8}) + weight("b", {8}) + node("Identity", {"s"}, "s2") +
                   node("Identity", {"b"}, "b2") + node("InstanceNormalization", {"x", "s", "b"}, "n") +
                   node("InstanceNormalization", {"n", "s2", "b2"}, "y")));
    CHECK(w.model.parameters == 2 * 2 * 8);
    const auto tied = good(model(input("x", {1, 8}) + weight("m", {8, 8}) + node("Identity", {"m"}, "m2") +
                                 node("MatMul", {"x", "m"}, "h") + node("MatMul", {"h", "m2"}, "y")));
    CHECK(tied.model.parameters == 8 * 8);
}

// GRU of 6 to 5: 3 (6 + 5) 5. Time first of two samples, or turned to it.
TEST_CASE("the input of a recurrent ONNX graph is a sequence", "[model][onnx]") {
    const std::string gru = weight("W", {1, 15, 6}) + weight("R", {1, 15, 5});
    for (const Sizes& shape : {Sizes{14, 2, 6}, Sizes{14, 0, 6}, Sizes{14, 1, 6}}) {
        const auto w =
            good(model(input("x", shape) + gru + node("GRU", {"x", "W", "R"}, "y", integer("hidden_size", 5))));
        CHECK(w.model.seq_len == 14);
        CHECK(w.model.image_size == 0);
        CHECK(w.model.layers[0].input == Shape{14, 6});
        CHECK(w.model.parameters == 3 * (6 + 5) * 5);
    }
    const auto open =
        good(model(input("x", {0, 0, 6}) + gru + node("GRU", {"x", "W", "R"}, "y", integer("hidden_size", 5))));
    CHECK(open.model.seq_len == 128);
    CHECK(std::count(open.assumed.begin(), open.assumed.end(), "dimension 0 of input x is 128 (open in the file)") ==
          1);
    const auto turned =
        good(model(input("x", {2, 14, 6}) + gru + node("Transpose", {"x"}, "t", ints("perm", {1, 0, 2})) +
                   node("GRU", {"t", "W", "R"}, "y", integer("hidden_size", 5))));
    CHECK(turned.model.seq_len == 14);
    CHECK(turned.model.image_size == 0);
}

// 64 MiB of weights; what is read besides fits into a buffer.
TEST_CASE("weights are skipped, and an ONNX file is told by its content", "[model][onnx]") {
    const auto path = std::filesystem::temp_directory_path() / ("dlcast_onnx_" + std::to_string(::getpid()));
    std::ofstream(path, std::ios::binary)
        << model(input("x", {1, 4096}) + weight("w", {4096, 4096}, std::string(64 << 20, 'w')) +
                 node("MatMul", {"x", "w"}, "y"));
    const auto declaration = read_model_argument(path);
    std::filesystem::remove(path);
    if (!declaration) FAIL(declaration.error().message);
    CHECK(to_workload(*declaration)->model.parameters == 4096 * 4096);
    CHECK(to_payload(*declaration)->size() < 300);
}
