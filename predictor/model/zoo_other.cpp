// SPDX-License-Identifier: GPL-2.0-or-later
// Recommenders: DLRM (Naumov et al., arXiv:1906.00091) with MLPerf's sizes on Criteo's terabyte, neural collaborative
// filtering (He et al., arXiv:1708.05031) with MLPerf's on MovieLens-20M. Translation: GNMT (Wu et al.,
// arXiv:1609.08144) with the four layers a side of MLPerf's reference.
#include "predictor/model/zoo_other.h"

#include <fmt/format.h>

#include "predictor/model/builder.h"

namespace dlcast {
namespace {

void add_mlp(ModelBuilder& b, const std::string& at, std::initializer_list<std::int64_t> widths, bool ends_with_relu) {
    std::size_t number = 0;
    for (const std::int64_t width : widths) {
        b.linear(fmt::format("{}.{}", at, number), width);
        if (++number < widths.size() || ends_with_relu) b.activation(fmt::format("{}.{}.relu", at, number), "relu");
    }
}

void add_table(ModelBuilder& b, const std::string& at, std::int64_t rows, std::int64_t width) {
    b.continue_from({1});
    b.embedding(at, rows, width);
}

// Rows of Criteo's 26 categories, at most 40 million each (MLPerf Training's closed division).
Result<ModelSpec> build_dlrm(const std::string& name, const BuildOptions&, std::vector<std::string>&) {
    static constexpr std::int64_t rows[] = {39884406, 39043,    17289,    7420,     20263,  3,     7120, 1543, 63,
                                            38532951, 2953546,  403346,   10,       2208,   11938, 155,  4,    976,
                                            14,       39979771, 25641295, 39664984, 585935, 12972, 108,  36};
    constexpr std::int64_t width = 128, vectors = 27;
    ModelBuilder b({13});
    add_mlp(b, "bottom", {512, 256, width}, true);
    int number = 0;
    for (const std::int64_t count : rows) add_table(b, fmt::format("table.{}", number++), count, width);
    // All pairs of the 26 vectors and the dense one; the lower triangle goes on beside the latter.
    b.continue_from({vectors, width});
    Layer& pairs = b.linear("interaction", vectors, false);
    b.add_parameters(pairs, -static_cast<double>(pairs.parameters));
    b.continue_from({width + vectors * (vectors - 1) / 2});
    add_mlp(b, "top", {1024, 1024, 512, 256, 1}, false);
    b.loss("loss");
    return b.finish(name, "dlrm");
}

Result<ModelSpec> build_ncf(const std::string& name, const BuildOptions&, std::vector<std::string>&) {
    constexpr std::int64_t users = 138'493, items = 26'744, factors = 64, hidden = 128;
    ModelBuilder b({2});
    add_table(b, "mf.users", users, factors);
    add_table(b, "mf.items", items, factors);
    b.multiply("mf.product");
    add_table(b, "mlp.users", users, hidden);
    add_table(b, "mlp.items", items, hidden);
    b.continue_from({2 * hidden});
    add_mlp(b, "mlp", {256, 128, 64}, true);
    b.concat("concat", factors);
    b.linear("score", 1);
    b.loss("loss");
    return b.finish(name, "ncf");
}

Result<ModelSpec> build_gnmt(const std::string& name, const BuildOptions& options, std::vector<std::string>& assumed) {
    constexpr std::int64_t vocab = 32'320, width = 1024;
    constexpr int layers = 4;
    const std::int64_t tokens = options.seq_len > 0 ? options.seq_len : 50;
    if (options.seq_len == 0) assumed.emplace_back("seq_len 50 (not stated; source and target)");
    ModelBuilder b({tokens});
    b.embedding("encoder.embed", vocab, width);
    for (int i = 0; i < layers && !b.failed(); ++i) {
        const std::string at = fmt::format("encoder.{}", i);
        b.dropout(at + ".drop");
        b.recurrent(at, LayerKind::lstm, width, i == 0);
        if (i > 1) b.add(at + ".add");
    }
    b.continue_from({tokens});
    b.embedding("decoder.embed", vocab, width);
    b.share();
    for (int i = 0; i < layers && !b.failed(); ++i) {
        const std::string at = fmt::format("decoder.{}", i);
        b.dropout(at + ".drop");
        if (i > 0) b.concat(at + ".context", width);
        b.recurrent(at, LayerKind::lstm, width);
        if (i > 1) b.add(at + ".add");
        if (i > 0) continue;
        // Additive attention with a normed score vector, over the encoder's states.
        b.linear("attention.query", width, false);
        b.linear("attention.key", width, false);
        Layer& scores = b.attention("attention.scores", 1, 1, width);
        b.add_parameters(scores, 2.0 * static_cast<double>(width) + 1.0);
    }
    b.linear("classifier", vocab);
    b.loss("loss");
    auto model = b.finish(name, "gnmt");
    if (model) model->seq_len = tokens;
    return model;
}

}  // namespace

const std::vector<OtherModel>& other_models() {
    static const std::vector<OtherModel> models = {{"dlrm", build_dlrm}, {"ncf", build_ncf}, {"gnmt", build_gnmt}};
    return models;
}

}  // namespace dlcast
