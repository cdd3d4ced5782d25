// SPDX-License-Identifier: GPL-2.0-or-later
// Collectives between GPUs, by NCCL. The communicator is non-blocking, so that a rank that hangs is seen here too.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>

#include <stdexcept>

#include "mpi/collective_runner.h"

namespace dlcast {
namespace {

void must(cudaError_t code) {
    if (code != cudaSuccess) throw std::runtime_error(fmt::format("CUDA: {}", cudaGetErrorString(code)));
}

void must(ncclResult_t code) {
    if (code != ncclSuccess && code != ncclInProgress)
        throw std::runtime_error(fmt::format("NCCL: {}", ncclGetErrorString(code)));
}

class NcclCollectives final : public CollectiveRunner {
public:
    NcclCollectives(Ranks& ranks, std::uint64_t most_bytes) : ranks_(ranks) {
        must(cudaMalloc(&from_, most_bytes));
        must(cudaMalloc(&to_, most_bytes));
        must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        must(cudaEventCreate(&begin_));
        must(cudaEventCreate(&end_));
        ncclUniqueId id{};
        if (ranks.rank() == 0) must(ncclGetUniqueId(&id));
        MPI_Request request;
        MPI_Ibcast(&id, sizeof id, MPI_BYTE, 0, ranks.work(), &request);
        ranks.wait(request, "NCCL's id");
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        must(ncclCommInitRankConfig(&comm_, ranks.size(), id, ranks.rank(), &config));
        finish("the start of NCCL");
    }
    ~NcclCollectives() override {
        ncclCommAbort(comm_);
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
        cudaStreamDestroy(stream_);
        cudaFree(from_);
        cudaFree(to_);
    }
    NcclCollectives(const NcclCollectives&) = delete;
    NcclCollectives& operator=(const NcclCollectives&) = delete;

    std::string library() const override { return "nccl"; }
    std::map<std::string, std::string> versions() const override {
        int v = 0;
        ncclGetVersion(&v);
        return {{"nccl", fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100)}};
    }

    double run_s(Collective collective, std::uint64_t bytes) override {
        const std::string what = describe(collective, bytes);
        ranks_.barrier(what);
        must(cudaEventRecord(begin_, stream_));
        must(start(collective, bytes / sizeof(float)));
        finish(what);
        must(cudaEventRecord(end_, stream_));
        ranks_.wait_until(
            [this] {
                const cudaError_t code = cudaEventQuery(end_);
                if (code != cudaErrorNotReady) must(code);
                return code == cudaSuccess;
            },
            what);
        float ms = 0.0f;
        must(cudaEventElapsedTime(&ms, begin_, end_));
        return ms / 1e3;
    }

private:
    void finish(const std::string& what) {
        ranks_.wait_until(
            [this] {
                ncclResult_t state = ncclSuccess;
                must(ncclCommGetAsyncError(comm_, &state));
                must(state);
                return state == ncclSuccess;
            },
            what);
    }

    ncclResult_t start(Collective collective, std::size_t count) {
        const auto ranks = static_cast<std::size_t>(ranks_.size());
        const std::size_t part = count / ranks;
        switch (collective) {
            case Collective::all_reduce:
                return ncclAllReduce(from_, to_, count, ncclFloat, ncclSum, comm_, stream_);
            case Collective::all_gather:
                return ncclAllGather(from_, to_, part, ncclFloat, comm_, stream_);
            case Collective::reduce_scatter:
                return ncclReduceScatter(from_, to_, part, ncclFloat, ncclSum, comm_, stream_);
            case Collective::broadcast:
                return ncclBroadcast(from_, to_, count, ncclFloat, 0, comm_, stream_);
            case Collective::alltoall:
                must(ncclGroupStart());
                for (std::size_t peer = 0; peer < ranks; ++peer) {
                    must(ncclSend(from_ + peer * part, part, ncclFloat, static_cast<int>(peer), comm_, stream_));
                    must(ncclRecv(to_ + peer * part, part, ncclFloat, static_cast<int>(peer), comm_, stream_));
                }
                return ncclGroupEnd();
            default:  // sendrecv: to the next rank, from the one before
                must(ncclGroupStart());
                must(ncclSend(from_, count, ncclFloat, (ranks_.rank() + 1) % ranks_.size(), comm_, stream_));
                must(ncclRecv(to_, count, ncclFloat, (ranks_.rank() + ranks_.size() - 1) % ranks_.size(), comm_,
                              stream_));
                return ncclGroupEnd();
        }
    }

    Ranks& ranks_;
    float *from_ = nullptr, *to_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    ncclComm_t comm_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<CollectiveRunner>> make_nccl_collectives(Ranks& ranks, std::uint64_t most_bytes) {
    try {
        return std::unique_ptr<CollectiveRunner>(std::make_unique<NcclCollectives>(ranks, most_bytes));
    } catch (const std::exception& e) {
        return unavailable(e.what());
    }
}

}  // namespace dlcast
