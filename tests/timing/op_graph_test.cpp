// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/op_graph.h"

#include <catch2/catch.hpp>
#include <functional>

#include "predictor/timing/physics.h"

using namespace dlcast;

namespace {

// One attention block of 2 sequences of 8 tokens, 4 heads of 16: hidden 64, scores 2*4*8 x 8.
OpGraph block() {
    OpGraph g{"bert_tiny", 8, 2, true, {}};
    g.forward = {{"Linear", 1, 16, 64, 64, 0, 0, 4},   {"BMM", 8, 8, 16, 8, 0, 0, 1},
                 {"VECdivu", 1, 0, 0, 0, 64, 8, 1},    {"VECadd", 1, 0, 0, 0, 64, 8, 1},
                 {"VECsoftmax", 1, 0, 0, 0, 64, 8, 1}, {"BMM", 8, 8, 8, 16, 0, 0, 1},
                 {"VECadd", 1, 0, 0, 0, 16, 64, 1},    {"VECln", 1, 0, 0, 0, 16, 64, 1},
                 {"getitem", 1, 0, 0, 0, 1, 1024, 9},  {"dropout", 1, 0, 0, 0, 1, 2048, 1}};
    return g;
}

double calls(const std::vector<OperatorUse>& uses, const std::function<bool(const Operator&)>& is) {
    double out = 0.0;
    for (const OperatorUse& use : uses) out += is(use.op) ? use.count : 0.0;
    return out;
}

bool is_linear(const Operator& op) { return op.kind == OperatorKind::linear; }
bool on_scores(const Operator& op) { return op.kind == OperatorKind::elementwise && op.rows == 64 && op.cols == 8; }
bool is_copy(const Operator& op) { return op.kind == OperatorKind::copy; }

double flops_of(const std::vector<OperatorUse>& uses) {
    double out = 0.0;
    for (const OperatorUse& use : uses)
        if (use.op.kind == OperatorKind::linear || use.op.kind == OperatorKind::bmm)
            out += use.count * total_flops(use.op);
    return out;
}

}  // namespace

TEST_CASE("backward of a product is two products of the same arithmetic", "[op_graph]") {
    const LayerOperators out = graph_operators(block(), false);
    // 4 x 2*16*64*64 and 2 x 2*8*8*16*8 operations.
    CHECK(flops_of(out.forward) == 4 * 131072.0 + 2 * 16384.0);
    CHECK(flops_of(out.backward) == 2 * flops_of(out.forward));
    CHECK(calls(out.forward, is_linear) == 4);
    CHECK(calls(out.backward, is_linear) == 8);
}

TEST_CASE("masks and divisions by a number read once and write once", "[op_graph]") {
    const LayerOperators out = graph_operators(block(), false);
    for (const OperatorUse& use : out.forward)
        if (on_scores(use.op)) CHECK(bytes(use.op) == 2 * 4.0 * 64 * 8);
    CHECK(calls(out.forward, on_scores) == 2);
    CHECK(calls(out.backward, on_scores) == 1);  // of the division; the mask's gradient passes through
}

TEST_CASE("an OPT model clamps its masked scores, and compares them again in backward", "[op_graph]") {
    OpGraph opt = block();
    opt.model = "opt_13";
    const LayerOperators out = graph_operators(opt, false);
    CHECK(calls(out.forward, on_scores) == 4);  // the division, three for the sum and the clamp
    CHECK(calls(out.backward, on_scores) == 6);
}

TEST_CASE("attention lays four tensors out anew, fewer where the list names them or there is one sequence",
          "[op_graph]") {
    OpGraph g = block();
    CHECK(calls(graph_operators(g, false).forward, is_copy) == 4);
    g.forward.push_back({"contiguous", 1, 0, 0, 0, 1, 2 * 16 * 64, 1});
    CHECK(calls(graph_operators(g, false).forward, is_copy) == 4);
    CHECK(calls(graph_operators(g, false).backward, is_copy) == 4);
    g.batch = 1;
    CHECK(calls(graph_operators(g, false).forward, is_copy) == 1);  // the one that the list names
}

TEST_CASE("inference has no backward", "[op_graph]") {
    OpGraph g = block();
    g.training = false;
    CHECK(graph_operators(g, false).backward.empty());
}

TEST_CASE("a compiled graph moves less through memory and computes the same products", "[op_graph]") {
    const auto moved = [](const LayerOperators& operators) {
        double sum = 0.0;
        for (const OperatorUse& use : operators.forward) sum += use.count * total_bytes(use.op);
        return sum;
    };
    const LayerOperators eager = graph_operators(block(), false), compiled = graph_operators(block(), true);
    CHECK(flops_of(compiled.forward) == flops_of(eager.forward));
    CHECK(moved(compiled) < moved(eager));
    CHECK(calls(compiled.forward, on_scores) == 0);  // inside the softmax
}
