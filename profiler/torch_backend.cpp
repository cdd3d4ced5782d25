// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/torch_backend.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <cstdlib>

#include "predictor/base/text.h"
#include "profiler/cache_evictor.h"
#include "profiler/torch_functions.h"
#include "profiler/torch_network.h"
#include "profiler/torch_operators.h"

namespace dlcast {
namespace {

// `before` is the same operator on other tensors. It runs first: inside of a step code, scratch memory and the places
// of what was freed lie in the caches.
class PreparedCall final : public PreparedWork {
public:
    PreparedCall(TorchCall call, TorchCall before, WorkTimer& timer, CacheEvictor& evictor)
        : call_(std::move(call)), before_(std::move(before)), timer_(timer), evictor_(evictor) {}
    double run_s() override {
        evictor_.evict();
        std::vector<torch::Tensor> kept = before_.work();
        if (!call_.keeps_results) kept.clear();
        evictor_.evict_inner();
        for (const torch::Tensor& tensor : call_.fresh) (void)tensor.sum();
        return timer_.seconds([this] { (void)call_.work(); });
    }

private:
    TorchCall call_, before_;
    WorkTimer& timer_;
    CacheEvictor& evictor_;
};

class PreparedPass final : public PreparedWork {
public:
    PreparedPass(std::unique_ptr<TorchNetwork> net, Pass pass, WorkTimer& timer)
        : net_(std::move(net)), pass_(pass), timer_(timer) {
        net_->make_gradients();
    }
    // Each part runs inside of a whole step: memory and caches are as a training has them.
    double run_s() override {
        double seconds = 0.0;
        const auto part = [&](Pass pass, const std::function<void()>& work) {
            if (pass == pass_)
                seconds = timer_.seconds(work);
            else
                work();
        };
        const auto forward = [this] { net_->forward(); };
        const auto backward = [this] { net_->backward(); };
        const auto update = [this] {
            net_->update();
            net_->clear_gradients();
        };
        net_->forget();
        if (pass_ == Pass::step)
            return timer_.seconds([&] {
                forward();
                backward();
                update();
            });
        part(Pass::forward, forward);
        part(Pass::backward, backward);
        part(Pass::update, update);
        return seconds;
    }

private:
    std::unique_ptr<TorchNetwork> net_;
    Pass pass_;
    WorkTimer& timer_;
};

class TorchBackend final : public Backend {
public:
    TorchBackend(torch::Device device, std::unique_ptr<WorkTimer> timer, std::function<SampleDevice()> describe,
                 std::function<double()> free_bytes, std::map<std::string, std::string> more, double cache_bytes)
        : device_(device),
          evictor_(cache_bytes),
          timer_(std::move(timer)),
          describe_(std::move(describe)),
          free_bytes_(std::move(free_bytes)),
          versions_(std::move(more)) {
        versions_["libtorch"] = TORCH_VERSION;
        versions_["timer"] = timer_->name();
        torch::manual_seed(1);
    }

    std::string name() const override { return device_.is_cuda() ? "torch-cuda" : "torch-cpu"; }
    SampleClock clock() const override { return timer_->clock(); }
    std::map<std::string, std::string> versions() const override { return versions_; }
    SampleDevice device() const override { return describe_(); }
    double free_bytes() const override { return free_bytes_(); }
    bool fused_attention() const override { return torch_fuses_attention(device_); }

    Result<std::unique_ptr<PreparedWork>> prepare(const Operator& op) override {
        allow_tf32(op.precision);
        try {
            auto call = make_torch_call(op, device_);
            if (!call) return call.error();
            auto before = make_torch_call(op, device_);
            if (!before) return before.error();
            auto out = std::make_unique<PreparedCall>(std::move(*call), std::move(*before), *timer_, evictor_);
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
    CacheEvictor evictor_;
    std::unique_ptr<WorkTimer> timer_;
    std::function<SampleDevice()> describe_;
    std::function<double()> free_bytes_;
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
                                                    std::function<double()> free_bytes,
                                                    std::map<std::string, std::string> more, double cache_bytes) {
    if (device == "cuda" && !torch::cuda::is_available())
        return unavailable("this LibTorch finds no GPU; is its CUDA build installed, and a driver running?");
    return std::unique_ptr<Backend>(std::make_unique<TorchBackend>(torch::Device(device), std::move(timer),
                                                                   std::move(describe), std::move(free_bytes),
                                                                   std::move(more), cache_bytes));
}

}  // namespace dlcast
