// SPDX-License-Identifier: GPL-2.0-or-later
// A GPU through cuBLASLt, cuDNN and own kernels, where LibTorch has no CUDA: single operators, no whole models.
#include <fmt/format.h>

#include "predictor/base/text.h"
#include "profiler/cuda_device.h"
#include "profiler/cuda_operators.h"
#include "profiler/gpu_timer.h"

namespace dlcast {
namespace {

class PreparedCall final : public PreparedWork {
public:
    PreparedCall(CudaCall call, WorkTimer& timer) : call_(std::move(call)), timer_(timer) {}
    double run_s() override { return timer_.seconds(call_); }

private:
    CudaCall call_;
    WorkTimer& timer_;
};

Result<CudaCall> make_call(const Operator& op) {
    if (op.phase == Phase::train_step)
        return unavailable("train_step is a measurement of another tool; measure its phases");
    switch (op.kind) {
        case OperatorKind::linear:
        case OperatorKind::bmm:
            return make_cublaslt_call(op);
        case OperatorKind::conv2d:
        case OperatorKind::pooling:
        case OperatorKind::softmax:
        case OperatorKind::batch_norm:
        case OperatorKind::dropout:
            return make_cudnn_call(op);
        default:
            return make_kernel_call(op);
    }
}

class CudaLibrariesBackend final : public Backend {
public:
    CudaLibrariesBackend() : timer_(make_gpu_timer()) {}
    std::string name() const override { return "cuda-libraries"; }
    SampleClock clock() const override { return timer_->clock(); }
    std::map<std::string, std::string> versions() const override {
        auto out = cuda_versions();
        out["cublaslt"] = cublaslt_version();
        out["cudnn"] = cudnn_version();
        out["timer"] = timer_->name();
        return out;
    }
    SampleDevice device() const override { return cuda_sample_device(); }
    double free_bytes() const override { return cuda_free_bytes(); }
    bool fused_attention() const override { return true; }  // it has none

    Result<std::unique_ptr<PreparedWork>> prepare(const Operator& op) override {
        try {
            auto call = make_call(op);
            if (!call) return call.error();
            auto out = std::make_unique<PreparedCall>(std::move(*call), *timer_);
            out->run_s();  // what the libraries refuse, they refuse now
            return std::unique_ptr<PreparedWork>(std::move(out));
        } catch (const std::exception& e) {
            return unavailable(fmt::format("the GPU refuses it: {}", one_line(e.what(), 200)));
        }
    }
    Result<std::unique_ptr<PreparedWork>> prepare(const ModelSpec&, const Training&, const MeasuredPass&) override {
        return no_models();
    }
    Result<std::unique_ptr<TrainingNetwork>> network(const ModelSpec&, const Training&) override { return no_models(); }

private:
    static Error no_models() { return unavailable("whole models need a LibTorch with CUDA"); }
    std::unique_ptr<WorkTimer> timer_;
};

}  // namespace

Result<OpenedDevice> open_cuda(int local_rank) {
    if (auto status = choose_cuda_device(local_rank); !status) return status.error();
    try {
        return OpenedDevice{std::make_unique<CudaLibrariesBackend>(), detect_cuda};
    } catch (const std::exception& e) {
        return unavailable(fmt::format("the GPU cannot be used: {}", e.what()));
    }
}

}  // namespace dlcast
