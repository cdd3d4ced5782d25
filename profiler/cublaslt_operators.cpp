// SPDX-License-Identifier: GPL-2.0-or-later
#include <cublasLt.h>
#include <fmt/format.h>

#include <memory>

#include "profiler/cuda_memory.h"
#include "profiler/cuda_operators.h"

namespace dlcast {
namespace {

void check(cublasStatus_t code, const char* what) {
    must(code == CUBLAS_STATUS_SUCCESS, what, cublasLtGetStatusString(code));
}

struct Types {
    cudaDataType_t data = CUDA_R_32F;
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

Result<Types> types_of(Precision precision) {
    switch (precision) {
        case Precision::fp32:
            return Types{CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC};
        case Precision::tf32:
            return Types{CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
        case Precision::amp:
        case Precision::fp16:
            return Types{CUDA_R_16F, CUBLAS_COMPUTE_32F};
        case Precision::bf16:
            return Types{CUDA_R_16BF, CUBLAS_COMPUTE_32F};
        case Precision::fp8:
            break;
    }
    return unavailable("fp8 products are not measured; measure fp32, tf32, amp, fp16 or bf16");
}

struct Handle {
    cublasLtHandle_t value = nullptr;
    Handle() { check(cublasLtCreate(&value), "cuBLASLt"); }
};

cublasLtHandle_t handle() {
    static const Handle out;  // for the process
    return out.value;
}

/// All that one product needs.
struct Product {
    cublasLtMatmulDesc_t call = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
    cublasLtMatmulHeuristicResult_t choice{};
    DeviceMemory a_memory, b_memory, c_memory, workspace;

    ~Product() {
        cublasLtMatmulDescDestroy(call);
        for (cublasLtMatrixLayout_t layout : {a, b, c}) cublasLtMatrixLayoutDestroy(layout);
    }
};

cublasLtMatrixLayout_t layout(cudaDataType_t type, std::int64_t rows, std::int64_t cols, std::int64_t batch) {
    cublasLtMatrixLayout_t out = nullptr;
    check(cublasLtMatrixLayoutCreate(&out, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols),
                                     rows),
          "a matrix layout");
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = rows * cols;
    check(cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count), "a batch");
    check(cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
          "a batch's stride");
    return out;
}

}  // namespace

// Row-major out[m,n] = x[m,k] w[k,n] is column-major out^T[n,m] = w^T[n,k] x^T[k,m]; a linear layer keeps its weight as
// [n,k], so that the first factor is transposed forward.
Result<CudaCall> make_cublaslt_call(const Operator& op) {
    const auto types = types_of(op.precision);
    if (!types) return types.error();
    const std::int64_t batch = op.kind == OperatorKind::bmm ? op.batch : 1;
    const bool transposed = op.kind == OperatorKind::linear && op.phase == Phase::forward;
    auto p = std::make_shared<Product>();
    check(cublasLtMatmulDescCreate(&p->call, types->compute, CUDA_R_32F), "a product");
    const cublasOperation_t turned = CUBLAS_OP_T;
    if (transposed)
        check(cublasLtMatmulDescSetAttribute(p->call, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned),
              "a transpose");
    p->a = transposed ? layout(types->data, op.k, op.n, batch) : layout(types->data, op.n, op.k, batch);
    p->b = layout(types->data, op.k, op.m, batch);
    p->c = layout(types->data, op.n, op.m, batch);
    const auto size = [&](std::int64_t x, std::int64_t y) {
        return data_bytes(op.precision, static_cast<double>(batch) * static_cast<double>(x) * static_cast<double>(y));
    };
    p->a_memory = DeviceMemory(size(op.k, op.n));
    p->b_memory = DeviceMemory(size(op.m, op.k));
    p->c_memory = DeviceMemory(size(op.m, op.n));
    constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // as PyTorch gives it on Hopper
    p->workspace = DeviceMemory(workspace_bytes);

    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "a preference");
    const std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>,
                          cublasStatus_t (*)(cublasLtMatmulPreference_t)>
        owned(preference, cublasLtMatmulPreferenceDestroy);
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                               sizeof workspace_bytes),
          "a workspace");
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle(), p->call, p->a, p->b, p->c, p->c, preference, 1, &p->choice, &found),
          "cuBLASLt's choice");
    if (found == 0) return unavailable("cuBLASLt has no kernel for this product");
    return CudaCall([p] {
        const float one = 1.0f, zero = 0.0f;
        constexpr std::size_t bytes = std::size_t{32} << 20;
        check(cublasLtMatmul(handle(), p->call, &one, p->a_memory.get(), p->a, p->b_memory.get(), p->b, &zero,
                             p->c_memory.get(), p->c, p->c_memory.get(), p->c, &p->choice.algo, p->workspace.get(),
                             bytes, nullptr),
              "a product");
    });
}

std::string cublaslt_version() {
    const std::size_t v = cublasLtGetVersion();
    return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

}  // namespace dlcast
