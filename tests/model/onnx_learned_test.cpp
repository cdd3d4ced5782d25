// SPDX-License-Identifier: GPL-2.0-or-later
// Which numbers of an ONNX file are learned. Nodes and weights are named as torch.onnx.export does.
#include "onnx_test_support.h"

using namespace dlcast;
using namespace onnx_writer;

namespace {

std::uint64_t parameters(const std::string& graph, std::int64_t opset = 13) {
    return good(model(graph, opset)).model.parameters;
}

bool says(const std::string& graph, const std::string& start, const std::string& end) {
    const auto w = good(model(graph));
    return std::any_of(w.assumed.begin(), w.assumed.end(),
                       [&](const std::string& text) { return text.starts_with(start) && text.ends_with(end); });
}

std::string multiply(const std::string& in, const std::string& matrix, const std::string& out) {
    return node("MatMul", {in, matrix}, out);
}

}  // namespace

// Two products by one matrix of 8 x 8 numbers, which the file holds once. A freshly made nn.TransformerEncoder's layers
// are equal copies; the exporter writes the second matrix as an Identity of the first.
TEST_CASE("a matrix that PyTorch merged counts in each module, a tied one once", "[model][onnx]") {
    const std::string start = input("x", {1, 16, 8}) + weight("onnx::MatMul_1", {8, 8}) +
                              node("Identity", {"onnx::MatMul_1"}, "onnx::MatMul_2");
    const auto second = [&](const std::string& name) {
        return start + multiply("x", "onnx::MatMul_1", "layers.0/fc/MatMul") +
               multiply("layers.0/fc/MatMul", "onnx::MatMul_2", name);
    };
    const std::string merged = "equal weights that the file holds once count in each layer: 64 parameters fewer";
    CHECK(parameters(second("layers.1/fc/MatMul")) == 2 * 64);
    CHECK(says(second("layers.1/fc/MatMul"), merged, "where they are tied (layers.1/fc)"));
    const std::string shared = "weights that several layers read count once: 64 parameters more";
    CHECK(parameters(second("layers.0/fc_1/MatMul")) == 64);  // the same module, called again
    CHECK_FALSE(says(second("layers.0/fc_1/MatMul"), shared, ""));
    CHECK(parameters(second("head/MatMul")) == 64);  // another module, which has its weight
    CHECK(says(second("head/MatMul"), shared, "where they only start equal (onnx::MatMul_2)"));
    CHECK(parameters(second("MatMul_7")) == 64);  // exporters before 1.13 name no module
    // The copy may be read first.
    CHECK(parameters(start + multiply("x", "onnx::MatMul_2", "layers.0/fc/MatMul") +
                     multiply("layers.0/fc/MatMul", "onnx::MatMul_1", "layers.1/fc/MatMul")) == 2 * 64);
    // What has a parameter's name is one; parameters that are one and the same have one name.
    const std::string named = input("x", {1, 8}) + weight("layers.0.fc.weight", {8, 8}) +
                              node("Identity", {"layers.0.fc.weight"}, "layers.1.fc.weight") +
                              node("Gemm", {"x", "layers.0.fc.weight"}, "layers.0/fc/Gemm", integer("transB", 1));
    CHECK(parameters(named + node("Gemm", {"layers.0/fc/Gemm", "layers.1.fc.weight"}, "layers.1/fc/Gemm")) == 2 * 64);
    CHECK(parameters(named + node("Gemm", {"layers.0/fc/Gemm", "layers.0.fc.weight"}, "layers.1/fc/Gemm")) == 64);
}

// A linear layer of 4 to 6 with weight_norm: directions 6 x 4, lengths 6, bias 6.
TEST_CASE("a weight that an ONNX graph computes counts what it is made of", "[model][onnx]") {
    const std::string start =
        input("x", {1, 4}) + weight("l.bias", {6}) + weight("l.weight_g", {6, 1}) + weight("l.weight_v", {6, 4});
    const auto normed = [](const std::string& in, const std::string& at) {
        return node("ReduceL2", {"l.weight_v"}, "n" + at, ints("axes", {1})) +
               node("Div", {"l.weight_v", "n" + at}, "d" + at) + node("Mul", {"d" + at, "l.weight_g"}, "w" + at) +
               node("Gemm", {in, "w" + at, "l.bias"}, "y" + at, integer("transB", 1));
    };
    CHECK(parameters(start + normed("x", "1")) == 24 + 6 + 6);
    CHECK(parameters(start + normed("x", "1") + normed("x", "2")) == 24 + 6 + 6);
    CHECK(forward_flops(good(model(start + normed("x", "1") + normed("x", "2"))).model) == 2.0 * 2 * 4 * 6);
    // Folded by the exporter its lengths are gone: a convolution's weight without its name says so.
    const auto folded = [](const std::string& bias) {
        return input("x", {1, 3, 8, 8}) + weight("onnx::Conv_5", {4, 3, 3, 3}) + weight(bias, {4}) +
               node("Conv", {"x", "onnx::Conv_5", bias}, "c/Conv");
    };
    CHECK(says(folded("c.bias"), "weights that the exporter computed count by their sizes; ", "(onnx::Conv_5)"));
    CHECK_FALSE(says(folded("onnx::Conv_6"), "weights that the exporter computed", ""));  // a folded batch norm
    // Spectral norm: both vectors of its power iteration are buffers.
    const std::string spectral = input("x", {1, 4}) + weight("l.parametrizations.weight.original", {6, 4}) +
                                 weight("l.parametrizations.weight.0._u", {6}) +
                                 weight("l.parametrizations.weight.0._v", {4});
    CHECK(parameters(spectral + multiply("l.parametrizations.weight.original", "l.parametrizations.weight.0._v", "wv") +
                     multiply("l.parametrizations.weight.0._u", "wv", "sigma") +
                     node("Div", {"l.parametrizations.weight.original", "sigma"}, "w") +
                     node("Gemm", {"x", "w"}, "y", integer("transB", 1))) == 24);
}

TEST_CASE("a mask of a weight is a buffer by its name, and doubtful without one", "[model][onnx]") {
    const auto masked = [](const std::string& mask) {
        return input("x", {1, 4}) + weight("l.weight", {6, 4}) + weight(mask, {6, 4}) +
               node("Mul", {"l.weight", mask}, "w") + node("Gemm", {"x", "w"}, "y", integer("transB", 1));
    };
    CHECK(parameters(masked("l.weight_mask")) == 24);
    CHECK(says(masked("l.weight_mask"), "taken for buffers: 24 parameters more", "(l.weight_mask)"));
    CHECK(parameters(masked("gate")) == 2 * 24);
    CHECK(says(masked("gate"), "tables count as learned: up to 24 parameters fewer where they are buffers (", ")"));
}

// A product of two computed matrices learns nothing; x x^T of 4 x 8 numbers.
TEST_CASE("a Gemm of computed matrices learns nothing", "[model][onnx]") {
    const auto w = good(model(input("x", {4, 8}) + node("Gemm", {"x", "x"}, "y", integer("transB", 1))));
    CHECK(w.model.parameters == 0);
    CHECK(forward_flops(w.model) == 2.0 * 4 * 8 * 4 / 4);  // of one of four samples
}

// 8 x 3 numbers of the matrix and nothing else: a table of whole numbers, a mask that is compared, statistics.
TEST_CASE("buffers of an ONNX graph count no parameters", "[model][onnx]") {
    const std::string whole = bytes(5, varint(1, 8) + varint(1, 8) + varint(2, 7) + bytes(8, "steps"));
    const std::string graph = input("x", {1, 8, 8}) + whole + weight("tril", {8, 8}) + weight("mean", {1, 1, 8}) +
                              weight("m", {8, 3}) + numbers("zero", {0}) + node("Sub", {"x", "mean"}, "c") +
                              node("Cast", {"steps"}, "real") + node("Add", {"c", "real"}, "s") +
                              node("Equal", {"tril", "zero"}, "hidden") + node("Where", {"hidden", "zero", "s"}, "h") +
                              multiply("h", "m", "y");
    CHECK(parameters(graph) == 8 * 3);
    CHECK(says(graph, "taken for buffers: 8 parameters more where they are learned (mean)", ""));
    // A shift that something is taken from is one: TensorFlow's norms are x f + (beta - mean f).
    CHECK(parameters(input("x", {1, 8}) + weight("beta", {8}) + node("Sub", {"beta", "x"}, "y")) == 8);
}

// 16 x 8 numbers a table. A buffer of positions that is added looks as learned ones do.
TEST_CASE("tables that are added count whole, and are named where they may be buffers", "[model][onnx]") {
    const auto added = [](const std::string& table) {
        return input("x", {2, 4, 8}) + weight(table, {1, 16, 8}) + numbers("from", {0}) + numbers("to", {4}) +
               numbers("axis", {1}) + node("Slice", {table, "from", "to", "axis"}, "rows") +
               node("Add", {"x", "rows"}, "y");
    };
    CHECK(parameters(added("pe")) == 16 * 8);
    CHECK(says(added("pe"), "tables count as learned: up to 128 parameters fewer where they are buffers (pe)", ""));
    CHECK(parameters(added("encoder.pos_embedding")) == 16 * 8);
    CHECK_FALSE(says(added("encoder.pos_embedding"), "tables", ""));
    // Rows that a constant index picks, and more rows than the table has (Swin's relative positions).
    for (const Sizes& rows : {Sizes{0, 1, 2, 3}, Sizes{1, 1, 1, 1}})
        CHECK(parameters(input("x", {2, 4, 8}) + weight("pos.weight", {2, 8}) + numbers("ids", rows) +
                         node("Gather", {"pos.weight", "ids"}, "rows") + node("Add", {"x", "rows"}, "y")) == 2 * 8);
    // The two halves of a matrix, each in its own layer.
    CHECK(parameters(input("x", {1, 8}) + weight("both", {8, 6}) + numbers("parts", {4, 2}) +
                     bytes(1, bytes(1, "both") + bytes(1, "parts") + bytes(2, "q") + bytes(2, "k") +
                                  bytes(3, "/Split") + bytes(4, "Split") + integer("axis", 1)) +
                     multiply("x", "q", "xq") + multiply("x", "k", "xk")) == 8 * 6);
}

// A class token of 8 numbers for each of two samples, and the token of masked places.
TEST_CASE("tokens that are put between those of the data are learned", "[model][onnx]") {
    CHECK(parameters(input("x", {2, 4, 8}) + weight("cls", {1, 1, 8}) + numbers("shape", {2, 1, 8}) +
                     node("Expand", {"cls", "shape"}, "c") + node("Concat", {"c", "x"}, "y", integer("axis", 1))) == 8);
    CHECK(parameters(input("x", {2, 4, 8}) + weight("mask_token", {1, 1, 8}) + node("Equal", {"x", "x"}, "m") +
                     node("Where", {"m", "mask_token", "x"}, "y")) == 8);
}

// A table of 10 x 8; the exporter turned the head's weight, which lost its name. Two labels are not a vocabulary.
TEST_CASE("a head whose weight is the turned embedding is tied to it", "[model][onnx]") {
    const std::string start = input("ids", {1, 5}) + weight("wte.weight", {10, 8}) + weight("types.weight", {2, 8}) +
                              node("Gather", {"wte.weight", "ids"}, "e") + node("Gather", {"types.weight", "ids"}, "t");
    const auto head = [&](const std::string& name, std::int64_t out) {
        return start + weight(name, {8, out}) + multiply("e", name, "head/MatMul");
    };
    CHECK(parameters(head("onnx::MatMul_9", 10)) == 80 + 16);
    CHECK(forward_flops(good(model(head("onnx::MatMul_9", 10))).model) == 2.0 * 5 * 8 * 10);
    CHECK(says(head("onnx::MatMul_9", 10), "the head is tied to its embedding: 80 parameters more where it is not (",
               "onnx::MatMul_9)"));
    CHECK(parameters(head("onnx::MatMul_9", 2)) == 80 + 16 + 16);
    CHECK(parameters(head("lm_head.weight", 10)) == 80 + 16 + 80);
}

// A sentence of "assumed" has at most 200 bytes.
TEST_CASE("what is assumed of many weights names the first of them", "[model][onnx]") {
    std::string graph = input("x", {1, 4, 4});
    for (int i = 0; i < 20; ++i) {
        const std::string at = std::to_string(i), name = "onnx::Conv_" + std::string(30, '0') + at;
        graph += weight(name, {4, 4, 1}) + node("Conv", {"x", name}, "y" + at);
    }
    CHECK(says(graph, "weights that the exporter computed", "0, ...)"));
}

// 10,000 weights, each made of all before it: what a layer counts is not looked through again.
TEST_CASE("a long chain of computed weights is counted in one pass", "[model][onnx]") {
    std::string graph = input("x", {1, 8}) + weight("w0", {8});
    for (int i = 0; i < 10'000; ++i) {
        const std::string at = std::to_string(i), next = std::to_string(i + 1);
        graph += weight("v" + at, {8}) + node("Add", {"w" + at, "v" + at}, "w" + next) +
                 node("Add", {"x", "w" + next}, "y" + at);
    }
    CHECK(parameters(graph) == 8 * 10'001);
}
