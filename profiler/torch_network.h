// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of the LibTorch backend: a whole model as a network that trains.
#pragma once

#include <memory>

#include "profiler/backend.h"
#include "profiler/torch_layers.h"
#include "profiler/torch_ready.h"

namespace dlcast {

/// Layers of a ModelSpec in their order. A list of layers does not say which tensor each one reads: it is the last one
/// of the shape that the layer takes (the residual of an addition: the last sum of that shape). Every layer runs with
/// its own sizes, so the time is that of the model; what it computes is not.
class TorchNetwork final : public TrainingNetwork {
public:
    static Result<std::unique_ptr<TorchNetwork>> make(const ModelSpec& model, const Training& training,
                                                      torch::Device device);

    std::vector<std::int64_t> gradient_sizes() const override;
    void place_gradients(const std::vector<float*>& places) override;
    void on_ready(std::function<void(std::size_t)> ready) override;
    void forward() override;
    void backward() override;
    void update() override;
    void clear_gradients() override;

    /// Lets go of what forward keeps for backward.
    void forget();
    void make_gradients();

private:
    struct Step {
        TorchLayer run;
        std::vector<std::size_t> inputs;  // numbers of values
        std::vector<std::size_t> last_used;
    };
    friend class TorchWiring;

    std::vector<Step> steps_;
    std::vector<torch::Tensor> values_;  // constants first, then the output of each step
    std::size_t constants_ = 0;
    std::vector<std::size_t> ends_;  // values that no layer reads: where backward begins
    std::vector<torch::Tensor> end_gradients_;
    TorchWeights weights_;
    std::shared_ptr<torch::optim::Optimizer> optimizer_;
    std::vector<HeldNode> accumulators_;
};

}  // namespace dlcast
