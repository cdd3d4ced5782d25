// SPDX-License-Identifier: GPL-2.0-or-later
// The kernels four models were seen to run (../shared/data/ops/opgraphs.csv.gz) against those their layers are lowered
// to.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "predictor/base/text.h"
#include "predictor/model/workload.h"
#include "predictor/timing/lowering.h"

using namespace dlcast;

namespace {

const std::string folder = DLCAST_SOURCE_DIR "/../shared/data/";

// Operator and sizes ("linear 1 1024 1024 4096", "softmax 8388608") to the number of calls.
using Counts = std::map<std::string, double>;

struct Row {
    std::string graph, mode, phase, graph_op, op, sizes;
    double elements = 0, count = 0;
};

std::vector<Row> read_rows() {
    std::vector<Row> rows;
    FILE* pipe = ::popen(("gzip -dc '" + folder + "ops/opgraphs.csv.gz'").c_str(), "r");
    REQUIRE(pipe);
    char line[1024];
    while (std::fgets(line, sizeof line, pipe)) {
        const auto f = split(trim(line), ',');
        if (f.size() < 15 || f[0] == "desc") continue;
        Row row{f[0], f[2], f[5], f[6], f[7], f[8] + " " + f[9] + " " + f[10] + " " + f[11], 0, *parse_number(f[14])};
        if (!f[12].empty() && !f[13].empty()) row.elements = *parse_number(f[12]) * *parse_number(f[13]);
        rows.push_back(row);
    }
    ::pclose(pipe);
    return rows;
}

std::string sized(const std::string& op, double elements) {
    return op + " " + std::to_string(static_cast<long long>(elements));
}

const std::set<std::string> row_wise = {"softmax",    "layernorm",  "add",        "mul", "mul_scalar",
                                        "div_scalar", "pow_scalar", "add_scalar", "gelu"};

// Smaller tensors are masks and positions, which cost nothing beside the rest.
constexpr double least_elements = 20'000;

Counts seen(const std::vector<Row>& rows, const std::string& graph, const std::string& phase) {
    Counts counts;
    double scores = 0;
    for (const Row& row : rows) {
        if (row.graph != graph || row.phase != phase) continue;
        const std::string op = row.op == "div" ? "div_scalar" : row.op;  // by a tensor of one element
        if (op == "linear" || op == "bmm") counts[op + " " + row.sizes] += row.count;
        if (phase != "forward") continue;
        if (op == "div_scalar") scores = row.elements;
        // GPT-2 masks by selection; it moves what an addition moves.
        if (row.graph_op == "where") counts[sized("add", scores)] += row.count;
        if (row.graph_op == "dropout")
            counts[sized("dropout", row.elements / 2)] += row.count;  // its rows hold data and mask
        if (row_wise.count(op) && row.elements >= least_elements) counts[sized(op, row.elements)] += row.count;
    }
    return counts;
}

Counts lowered(const std::vector<LayerOperators>& layers, bool forward) {
    Counts counts;
    for (const LayerOperators& layer : layers)
        for (const OperatorUse& use : forward ? layer.forward : layer.backward) {
            const Operator& op = use.op;
            std::string name = to_string(op.kind);
            if (op.kind == OperatorKind::elementwise) name = to_string(op.function);
            if (op.kind == OperatorKind::layer_norm) name = "layernorm";
            const auto n = [](std::int64_t size) { return std::to_string(size); };
            if (op.kind == OperatorKind::linear || op.kind == OperatorKind::bmm)
                counts[name + " " + n(op.batch) + " " + n(op.m) + " " + n(op.k) + " " + n(op.n)] += use.count;
            const double elements = static_cast<double>(op.rows) * static_cast<double>(op.cols);
            if (!forward) continue;
            if (name == "dropout") counts[sized(name, elements)] += use.count;
            if (row_wise.count(name) && elements >= least_elements) counts[sized(name, elements)] += use.count;
        }
    return counts;
}

Workload workload_of(const std::string& graph, const std::string& mode, std::int64_t tokens) {
    const std::string name = graph.substr(0, graph.find('-'));
    const std::map<std::string, std::string> models = {{"bert_large", "bert-large-uncased"},
                                                       {"gpt2_large", "gpt2-large"},
                                                       {"opt_13", "facebook/opt-1.3b"},
                                                       {"gpt3_xl", folder + "steps/models/gpt3_xl.json"}};
    const auto declaration = read_model_argument(models.at(name));
    REQUIRE(declaration);
    WorkloadOverrides o;
    o.seq_len = tokens;
    // Pre-training predicted every position; inference had two classes on BERT.
    o.set = {"dataset.masked_tokens=" + std::to_string(tokens)};
    if (name == "bert_large" && mode == "inf") o.set.emplace_back("training.task=classification");
    auto workload = to_workload(*declaration, o);
    if (!workload) FAIL(workload.error().message);
    workload->training.forward_only = mode == "inf";
    return *workload;
}

void check_equal(const Counts& expected, const Counts& got) {
    for (const auto& [key, count] : expected) {
        INFO(key);
        CHECK((got.count(key) ? got.at(key) : 0.0) == count);
    }
    for (const auto& [key, count] : got) {
        INFO(key << " is not in the graph");
        CHECK(expected.count(key));
    }
}

}  // namespace

TEST_CASE("transformers are lowered to the kernels that were seen", "[lowering]") {
    if (!std::filesystem::exists(folder + "ops/opgraphs.csv.gz")) {
        std::cout << "SKIPPED: no ../shared/data/ops\n";
        return;
    }
    const auto rows = read_rows();
    std::set<std::string> graphs;
    for (const Row& row : rows) graphs.insert(row.graph);
    REQUIRE(graphs.size() == 16);
    for (const std::string& graph : graphs) {
        INFO(graph);
        const auto parts = split(graph, '-');  // model, mode, tokens, batch
        const std::int64_t tokens = *parse_integer(parts[2]), batch = *parse_integer(parts[3]);
        const Workload w = workload_of(graph, parts[1], tokens);
        const auto layers = lower(w.model, w.training, batch);
        check_equal(seen(rows, graph, "forward"), lowered(layers, true));
        if (parts[1] == "train") check_equal(seen(rows, graph, "backward"), lowered(layers, false));
    }
}
