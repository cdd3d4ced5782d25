// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/torch_backend.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <cstdlib>

#include "predictor/base/text.h"
#include "profiler/torch_network.h"
#include "profiler/torch_operators.h"

namespace dlcast {
namespace {

class PreparedCall final : public PreparedWork {
public:
    PreparedCall(TorchCall call, WorkTimer& timer) : call_(std::move(call)), timer_(timer) {}
    double run_s() override {
        call_.prepare();
        return timer_.seconds(call_.work);
    }

private:
    TorchCall call_;
    WorkTimer& timer_;
};

class PreparedPass final : public PreparedWork {
public:
    PreparedPass(std::unique_ptr<TorchNetwork> net, Pass pass, WorkTimer& timer)
        : net_(std::move(net)), pass_(pass), timer_(timer) {
        net_->make_gradients();
    }
    double run_s() override {
        net_->forget();
        if (pass_ == Pass::backward) net_->forward();
        return timer_.seconds([this] { work(); });
    }

private:
    void work() {
        const bool all = pass_ == Pass::step;
        if (all || pass_ == Pass::forward) net_->forward();
        if (all || pass_ == Pass::backward) net_->backward();
        if (!all && pass_ != Pass::update) return;
        net_->update();
        net_->clear_gradients();
    }

    std::unique_ptr<TorchNetwork> net_;
    Pass pass_;
    WorkTimer& timer_;
};

class TorchBackend final : public Backend {
public:
    TorchBackend(torch::Device device, std::unique_ptr<WorkTimer> timer, std::function<SampleDevice()> describe,
                 std::map<std::string, std::string> more)
        : device_(device), timer_(std::move(timer)), describe_(std::move(describe)), versions_(std::move(more)) {
        versions_["libtorch"] = TORCH_VERSION;
        versions_["timer"] = timer_->name();
        torch::manual_seed(1);
    }

    std::string name() const override { return device_.is_cuda() ? "torch-cuda" : "torch-cpu"; }
    Clock clock() const override { return timer_->clock(); }
    std::map<std::string, std::string> versions() const override { return versions_; }
    SampleDevice device() const override { return describe_(); }

    Result<std::unique_ptr<PreparedWork>> prepare(const Operator& op) override {
        allow_tf32(op.precision);
        try {
            auto call = make_torch_call(op, device_);
            if (!call) return call.error();
            auto out = std::make_unique<PreparedCall>(std::move(*call), *timer_);
            out->run_s();  // what LibTorch refuses, it refuses now
            return std::unique_ptr<PreparedWork>(std::move(out));
        } catch (const std::exception& e) {
            return unavailable(fmt::format("LibTorch refuses it: {}", one_line(e.what(), 200)));
        }
    }

    Result<std::unique_ptr<PreparedWork>> prepare(const ModelSpec& model, const Training& training,
                                                  const MeasuredPass& pass) override {
        allow_tf32(training.precision);
        auto net = TorchNetwork::make(model, training, device_);
        if (!net) return net.error();
        try {
            auto out = std::make_unique<PreparedPass>(std::move(*net), pass.pass, *timer_);
            out->run_s();
            return std::unique_ptr<PreparedWork>(std::move(out));
        } catch (const std::exception& e) {
            return unavailable(fmt::format("LibTorch refuses it: {}", one_line(e.what(), 200)));
        }
    }

    Result<std::unique_ptr<TrainingNetwork>> network(const ModelSpec& model, const Training& training) override {
        auto net = TorchNetwork::make(model, training, device_);
        if (!net) return net.error();
        return std::unique_ptr<TrainingNetwork>(std::move(*net));
    }

private:
    static void allow_tf32(Precision precision) {
        at::globalContext().setAllowTF32CuBLAS(precision == Precision::tf32);
        at::globalContext().setAllowTF32CuDNN(precision == Precision::tf32);
    }

    torch::Device device_;
    std::unique_ptr<WorkTimer> timer_;
    std::function<SampleDevice()> describe_;
    std::map<std::string, std::string> versions_;
};

}  // namespace

int torch_threads(int usual) {
    static const bool chosen = std::getenv("OMP_NUM_THREADS") != nullptr;
    if (!chosen && torch::get_num_threads() != usual) torch::set_num_threads(usual);
    return torch::get_num_threads();
}

Result<std::unique_ptr<Backend>> make_torch_backend(const std::string& device, std::unique_ptr<WorkTimer> timer,
                                                    std::function<SampleDevice()> describe,
                                                    std::map<std::string, std::string> more) {
    if (device == "cuda" && !torch::cuda::is_available())
        return unavailable("this LibTorch finds no GPU; is its CUDA build installed, and a driver running?");
    return std::unique_ptr<Backend>(
        std::make_unique<TorchBackend>(torch::Device(device), std::move(timer), std::move(describe), std::move(more)));
}

}  // namespace dlcast
