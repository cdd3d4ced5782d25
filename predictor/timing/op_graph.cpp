// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/op_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace dlcast {
namespace {

struct Extent {
    std::int64_t rows = 0, cols = 0;
    std::int64_t elements() const { return rows * cols; }
    bool operator==(const Extent&) const = default;
};

// An elementwise node: its kernel, and kernels (of forward's kind, which have measured rows) that its backward runs.
struct Elementwise {
    Function forward;
    std::vector<Function> backward;
};

std::optional<Elementwise> elementwise_of(const std::string& name) {
    static const std::map<std::string, Elementwise> known{
        {"VECadd", {Function::add, {}}},
        {"VECaddu", {Function::add_scalar, {}}},
        {"VECmul", {Function::mul, {Function::mul, Function::mul}}},
        {"VECmulu", {Function::mul_scalar, {Function::mul_scalar}}},
        {"VECdiv", {Function::div_scalar, {Function::div_scalar}}},  // by a tensor of one element
        {"VECdivu", {Function::div_scalar, {Function::div_scalar}}},
        {"VECpowu", {Function::pow_scalar, {Function::pow_scalar, Function::mul_scalar, Function::mul}}},
        {"VECtanh", {Function::tanh, {Function::mul}}},  // reads the gradient and the result
    };
    const auto found = known.find(name);
    return found == known.end() ? std::nullopt : std::optional(found->second);
}

class Reader {
public:
    Reader(const OpGraph& graph, bool fused) : graph_(graph), fused_(fused) {
        for (const GraphNode& node : graph.forward) {
            if (node.name == "VECsoftmax") scores_ = {node.rows, node.cols};
            if (node.name == "VECln") hidden_ = {node.rows, node.cols};
            if (node.name == "contiguous") copies_stated_ += node.count;
            if (node.name == "BMM") products_ += node.count;
            if (node.name == "Linear") widest_ = std::max(widest_, node.n);
            if (!elementwise_of(node.name)) continue;
            const auto [chain, is_first] = chains_.try_emplace({node.rows, node.cols}, node.count);
            chain->second = std::min(chain->second, node.count);
        }
    }

    LayerOperators read() {
        for (const GraphNode& node : graph_.forward) put_node(node);
        return std::move(out_);
    }

private:
    void put(std::vector<OperatorUse>& list, const Operator& op, double count) {
        if (count > 0.0 && (&list == &out_.forward || graph_.training)) list.push_back({op, count});
    }
    void put_row_wise(std::vector<OperatorUse>& list, OperatorKind kind, Function function, Phase phase,
                      const Extent& extent, double count) {
        Operator op;
        op.kind = kind;
        op.function = function;
        op.phase = phase;
        op.rows = extent.rows;
        op.cols = extent.cols;
        put(list, op, count);
    }
    void put_elementwise(std::vector<OperatorUse>& list, Function function, const Extent& extent, double count) {
        put_row_wise(list, OperatorKind::elementwise, function, Phase::forward, extent, count);
    }
    void put_both(OperatorKind kind, Function function, const Extent& extent, double count) {
        put_row_wise(out_.forward, kind, function, Phase::forward, extent, count);
        put_row_wise(out_.backward, kind, function, Phase::backward, extent, count);
    }
    void put_product(std::vector<OperatorUse>& list, OperatorKind kind, std::int64_t batch, std::int64_t m,
                     std::int64_t k, std::int64_t n, double count) {
        Operator op;
        op.kind = kind;
        op.batch = batch;
        op.m = m;
        op.k = k;
        op.n = n;
        put(list, op, count);
    }

    void put_node(const GraphNode& node) {
        const Extent extent{node.rows, node.cols};
        if (node.name == "Linear" || node.name == "BMM") return put_products(node);
        if (node.name == "VECln") return put_both(OperatorKind::layer_norm, Function::none, extent, node.count);
        if (node.name == "VECsoftmax") return put_both(OperatorKind::softmax, Function::none, extent, node.count);
        if (node.name == "VECgelu") return put_both(OperatorKind::elementwise, Function::gelu, extent, node.count);
        if (node.name == "VECrelu") return put_both(OperatorKind::elementwise, Function::relu, extent, node.count);
        if (node.name == "EMBEDDING") return put_embedding(node);
        if (node.name == "dropout") return put_dropout(shaped(extent.elements() / 2), node.count);
        if (node.name == "contiguous") return put_copies(shaped(extent.elements() / 2), node.count, node.count);
        if (fused_ && (node.name == "where" || elementwise_of(node.name)))
            return put_chain(node.name, node.name == "where" ? scores_ : extent, node.count);
        if (node.name == "where") return put_mask(node.count);
        if (node.name == "VECadd" && extent == scores_) return put_mask_sum(node.count);
        if (const auto kernels = elementwise_of(node.name)) put_kernels(*kernels, extent, node.count);
        if (node.name == "VECadd" && extent == hidden_)  // a residual fork: its two gradients are summed
            put_elementwise(out_.backward, Function::add, extent, node.count);
    }

    // A compiler writes and reads a tensor of each shape once a chain; what leads to a softmax or norm runs inside of
    // it, and reads a second operand at most.
    void put_chain(const std::string& name, const Extent& extent, double count) {
        if (extent == scores_) return;
        const auto chain = chains_.find({extent.rows, extent.cols});
        if (extent == hidden_) {
            count = name == "VECadd" ? count / 2.0 : 0.0;
        } else {
            count = chain == chains_.end() ? 0.0 : chain->second;
            if (chain != chains_.end()) chains_.erase(chain);  // once for all its nodes
        }
        put_elementwise(out_.forward, Function::mul_scalar, extent, count);
        put_elementwise(out_.backward, Function::mul_scalar, extent, count);
    }

    void put_kernels(const Elementwise& kernels, const Extent& extent, double count) {
        put_elementwise(out_.forward, kernels.forward, extent, count);
        for (const Function function : kernels.backward) put_elementwise(out_.backward, function, extent, count);
    }

    // Data gradient [m,n] x [n,k] and weight gradient [k,m] x [m,n].
    void put_products(const GraphNode& node) {
        const OperatorKind kind = node.name == "BMM" ? OperatorKind::bmm : OperatorKind::linear;
        put_product(out_.forward, kind, node.batch, node.m, node.k, node.n, node.count);
        put_product(out_.backward, kind, node.batch, node.m, node.n, node.k, node.count);
        put_product(out_.backward, kind, node.batch, node.k, node.m, node.n, node.count);
        if (kind == OperatorKind::bmm) put_head_copies(node);
    }

    // Of the four tensors that change between token and head order, what the list does not name. A single sequence
    // lies right for the products as it is; its gradients still have to be put back.
    void put_head_copies(const GraphNode& node) {
        constexpr double changed = 4.0;
        const double pairs = std::max(1.0, products_ / 2.0);
        const double unnamed = std::max(0.0, changed - copies_stated_ / pairs) / 2.0;  // for each of the two products
        const bool by_list = copies_stated_ / pairs > 1.5;                             // also with one sequence
        const bool scores = node.k < node.n;
        const Extent tensor{node.batch * node.m, scores ? node.k : node.n};
        put_copies(tensor, graph_.batch > 1 || by_list ? unnamed * node.count : 0.0, unnamed * node.count);
    }
    void put_copies(const Extent& extent, double forward, double backward) {
        put_row_wise(out_.forward, OperatorKind::copy, Function::none, Phase::forward, extent, forward);
        put_row_wise(out_.backward, OperatorKind::copy, Function::none, Phase::forward, extent, backward);
    }

    // Backward scales the gradient where the mask of one byte an element says so: 9 bytes against the 8 of a product
    // with a number. (Measured alone, with gradients of gradients enabled, it is three kernels of 25 bytes.)
    void put_dropout(const Extent& extent, double count) {
        put_row_wise(out_.forward, OperatorKind::dropout, Function::none, Phase::forward, extent, count);
        put_elementwise(out_.backward, Function::mul_scalar, extent, 9.0 / 8.0 * count);
    }

    // Tokens of the list read rows of a table; the rows' width follows from the elements and the tokens' ids.
    void put_embedding(const GraphNode& node) {
        const std::int64_t tokens = graph_.seq_len * graph_.batch;
        const std::int64_t width = tokens > 0 ? node.rows * node.cols / tokens - 1 : 0;
        if (width < 1) return;
        Operator op;
        op.kind = OperatorKind::embedding;
        op.rows = tokens;
        op.cols = width;
        op.vocab = widest_;  // the language model's head is as wide as the table is long
        put(out_.forward, op, node.count);
        op.phase = Phase::backward;
        put(out_.backward, op, node.count);
    }

    void put_mask(double count) {
        put_elementwise(out_.forward, Function::add_scalar, scores_, count);
        put_elementwise(out_.backward, Function::mul_scalar, scores_, count);
    }

    void put_mask_sum(double count) {
        put_elementwise(out_.forward, Function::add_scalar, scores_, count);
        // Hugging Face's OPT then clamps the scores by torch.max against the least number, a tensor of one element.
        // Mask and number are broadcast, so both kernels compute offsets: whole passes on MI100 and MI210, which train,
        // take three plain passes over the scores for the two. Its gradient compares twice, halves, selects and fills.
        if (!graph_.model.starts_with("opt")) return;
        put_elementwise(out_.forward, Function::mul_scalar, scores_, 2.0 * count);
        put_elementwise(out_.backward, Function::mul_scalar, scores_, 5.0 * count);
    }

    // The shape of a tensor of which the list tells the elements alone.
    Extent shaped(std::int64_t elements) const {
        if (elements == scores_.elements()) return scores_;
        if (hidden_.cols > 0 && elements % hidden_.cols == 0) return {elements / hidden_.cols, hidden_.cols};
        return {1, elements};
    }

    const OpGraph& graph_;
    bool fused_;
    Extent scores_, hidden_;
    std::map<std::pair<std::int64_t, std::int64_t>, double> chains_;  // elementwise nodes by shape: chains of them
    std::int64_t widest_ = 0;
    double copies_stated_ = 0.0, products_ = 0.0;
    LayerOperators out_;
};

}  // namespace

LayerOperators graph_operators(const OpGraph& graph, bool fused) { return Reader(graph, fused).read(); }

}  // namespace dlcast
