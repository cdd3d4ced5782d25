// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <utility>
#include <vector>

#include "contrib/cpu_training/network.h"
#include "profiler/torch_ready.h"

namespace dlcast {
namespace {

namespace nn = torch::nn;
using torch::Tensor;

constexpr std::int64_t samples = 1024, classes = 10, pixels = 32, tokens = 64, vocab = 1000;

struct Cnn : nn::Module {
    Cnn() {
        const auto conv = [this](std::int64_t in, std::int64_t out) {
            layers->push_back(nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false)));
            layers->push_back(nn::BatchNorm2d(out));
            layers->push_back(nn::ReLU());
        };
        conv(3, 32);
        conv(32, 64);
        layers->push_back(nn::MaxPool2d(2));
        conv(64, 128);
        layers->push_back(nn::MaxPool2d(2));
        conv(128, 128);
        register_module("layers", layers);
        register_module("head", head);
    }
    Tensor forward(const Tensor& images) { return head(layers->forward(images).mean({2, 3})); }

    nn::Sequential layers;
    nn::Linear head{128, classes};
};

// Norms before the parts; attention in parts, as eager models run it.
struct Block : nn::Module {
    Block() {
        register_module("norm1", norm1);
        register_module("norm2", norm2);
        for (auto* l : {&q, &k, &v, &out, &up, &down}) register_module(fmt::format("linear{}", children().size()), *l);
    }
    Tensor forward(Tensor x) {
        const Tensor y = norm1(x);
        const auto by_head = [&](const Tensor& t) {
            return t.view({-1, tokens, heads, width / heads}).transpose(1, 2);
        };
        const Tensor scores = torch::matmul(by_head(q(y)), by_head(k(y)).transpose(-1, -2)) /
                              std::sqrt(static_cast<double>(width / heads));
        const Tensor mixed = torch::matmul(torch::softmax(scores, -1), by_head(v(y)));
        x = x + out(mixed.transpose(1, 2).reshape({-1, tokens, width}));
        return x + down(torch::gelu(up(norm2(x))));
    }

    static constexpr std::int64_t width = 128, heads = 4, inner = 512;
    nn::LayerNorm norm1{nn::LayerNormOptions({width})}, norm2{nn::LayerNormOptions({width})};
    nn::Linear q{width, width}, k{width, width}, v{width, width}, out{width, width}, up{width, inner},
        down{inner, width};
};

struct Transformer : nn::Module {
    Transformer() {
        register_module("embedding", embedding);
        for (auto& b : blocks)
            b = register_module(fmt::format("block{}", children().size()), std::make_shared<Block>());
        register_module("norm", norm);
        register_module("head", head);
    }
    Tensor forward(const Tensor& ids) {
        Tensor x = embedding(ids);
        for (auto& b : blocks) x = b->forward(x);
        return head(norm(x)).view({-1, vocab});
    }

    nn::Embedding embedding{vocab, Block::width};
    std::vector<std::shared_ptr<Block>> blocks{2};
    nn::LayerNorm norm{nn::LayerNormOptions({Block::width})};
    nn::Linear head{Block::width, vocab};
};

struct DataSet {
    Tensor inputs, labels;
};

// Each class has a pattern, under noise of its strength.
DataSet images() {
    const Tensor labels = torch::randint(classes, {samples}, torch::kLong);
    const Tensor patterns = torch::randn({classes, 3, pixels, pixels});
    return {patterns.index_select(0, labels) + torch::randn({samples, 3, pixels, pixels}), labels};
}

DataSet texts() {
    const Tensor ids = torch::randint(vocab, {samples, tokens}, torch::kLong);
    return {ids, torch::remainder(ids * 7 + 3, vocab)};
}

template <class Module, class Update>
class Training final : public TrainedNetwork {
public:
    Training(std::shared_ptr<Module> net, std::unique_ptr<Update> update, DataSet data, std::int64_t batch, int rank,
             int ranks)
        : net_(std::move(net)),
          update_(std::move(update)),
          data_(std::move(data)),
          batch_(batch),
          rank_(rank),
          ranks_(ranks),
          weights_(net_->parameters()) {}

    std::int64_t parameters() const override {
        std::int64_t sum = 0;
        for (const Tensor& w : weights_) sum += w.numel();
        return sum;
    }
    double loss() const override { return loss_.template item<double>(); }
    std::vector<std::int64_t> gradient_sizes() const override {
        std::vector<std::int64_t> out;
        for (const Tensor& w : weights_) out.push_back(w.numel());
        return out;
    }
    void place_gradients(const std::vector<float*>& places) override {
        for (std::size_t i = 0; i < weights_.size(); ++i)
            weights_[i].mutable_grad() = torch::from_blob(places[i], weights_[i].sizes(), torch::kFloat);
    }
    void on_ready(std::function<void(std::size_t)> ready) override {
        for (std::size_t i = 0; i < weights_.size(); ++i)
            accumulators_.push_back(when_gradient_is_whole(weights_[i], [ready, i] { ready(i); }));
    }
    void forward() override {
        const std::int64_t all = batch_ * ranks_;
        if (at_ + all > order_.size(0)) {
            order_ = torch::randperm(samples, torch::kLong);
            at_ = 0;
        }
        const Tensor chosen = order_.narrow(0, at_ + rank_ * batch_, batch_);
        at_ += all;
        loss_ = nn::functional::cross_entropy(net_->forward(data_.inputs.index_select(0, chosen)),
                                              data_.labels.index_select(0, chosen).flatten());
    }
    void backward() override { loss_.backward(); }
    void update() override { update_->step(); }
    void clear_gradients() override {
        for (Tensor& w : weights_)
            if (w.grad().defined()) w.mutable_grad().zero_();
    }

private:
    std::shared_ptr<Module> net_;
    std::unique_ptr<Update> update_;
    DataSet data_;
    std::int64_t batch_;
    int rank_, ranks_;
    std::vector<Tensor> weights_;
    std::vector<HeldNode> accumulators_;
    Tensor loss_, order_ = torch::empty({0}, torch::kLong);
    std::int64_t at_ = 0;
};

template <class Module, class Update, class Options>
std::unique_ptr<TrainedNetwork> training(const Options& options, DataSet (*data)(), std::int64_t batch, int rank,
                                         int ranks) {
    torch::manual_seed(1);
    auto net = std::make_shared<Module>();
    auto update = std::make_unique<Update>(net->parameters(), options);
    return std::make_unique<Training<Module, Update>>(std::move(net), std::move(update), data(), batch, rank, ranks);
}

}  // namespace

Result<std::unique_ptr<TrainedNetwork>> make_trained_network(const std::string& name, std::int64_t batch, int rank,
                                                             int ranks) {
    using namespace torch::optim;
    if (batch < 1 || batch * ranks > samples)
        return invalid_argument(fmt::format("all ranks' batches must hold 1 to {} samples", samples));
    if (name == "cnn") return training<Cnn, SGD>(SGDOptions(0.02).momentum(0.9), images, batch, rank, ranks);
    if (name == "transformer") return training<Transformer, AdamW>(AdamWOptions(1e-3), texts, batch, rank, ranks);
    return not_found(fmt::format("there is no network {}; take cnn or transformer", name));
}

}  // namespace dlcast
