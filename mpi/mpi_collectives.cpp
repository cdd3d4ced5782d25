// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "mpi/collective_runner.h"
#include "profiler/repeat.h"

namespace dlcast {
namespace {

class MpiCollectives final : public CollectiveRunner {
public:
    MpiCollectives(Ranks& ranks, std::uint64_t most_bytes)
        : ranks_(ranks), from_(most_bytes / sizeof(float), 1.0f), to_(most_bytes / sizeof(float), 0.0f) {}

    std::string library() const override { return "mpi"; }
    std::map<std::string, std::string> versions() const override {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(text, &length);
        const std::string whole(text, static_cast<std::size_t>(length));
        return {{"mpi", whole.substr(0, whole.find(','))}};
    }

    double run_s(Collective collective, std::uint64_t bytes) override {
        const std::string what = describe(collective, bytes);
        ranks_.barrier(what);
        const double begin_s = steady_now_s();
        std::vector<MPI_Request> requests = start(collective, static_cast<int>(bytes / sizeof(float)));
        ranks_.wait(requests, what);
        return steady_now_s() - begin_s;
    }

private:
    std::vector<MPI_Request> start(Collective collective, int count) {
        std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
        const int part = count / ranks_.size();
        float* from = from_.data();
        float* to = to_.data();
        MPI_Comm comm = ranks_.work();
        switch (collective) {
            case Collective::all_reduce:
                MPI_Iallreduce(from, to, count, MPI_FLOAT, MPI_SUM, comm, &requests[0]);
                break;
            case Collective::all_gather:
                MPI_Iallgather(from, part, MPI_FLOAT, to, part, MPI_FLOAT, comm, &requests[0]);
                break;
            case Collective::reduce_scatter:
                MPI_Ireduce_scatter_block(from, to, part, MPI_FLOAT, MPI_SUM, comm, &requests[0]);
                break;
            case Collective::alltoall:
                MPI_Ialltoall(from, part, MPI_FLOAT, to, part, MPI_FLOAT, comm, &requests[0]);
                break;
            case Collective::broadcast:
                MPI_Ibcast(from, count, MPI_FLOAT, 0, comm, &requests[0]);
                break;
            default: {  // sendrecv: to the next rank, from the one before
                const int next = (ranks_.rank() + 1) % ranks_.size();
                const int before = (ranks_.rank() + ranks_.size() - 1) % ranks_.size();
                requests.push_back(MPI_REQUEST_NULL);
                MPI_Irecv(to, count, MPI_FLOAT, before, 0, comm, &requests[0]);
                MPI_Isend(from, count, MPI_FLOAT, next, 0, comm, &requests[1]);
            }
        }
        return requests;
    }

    Ranks& ranks_;
    std::vector<float> from_, to_;
};

}  // namespace

std::unique_ptr<CollectiveRunner> make_mpi_collectives(Ranks& ranks, std::uint64_t most_bytes) {
    return std::make_unique<MpiCollectives>(ranks, most_bytes);
}

std::string describe(Collective collective, std::uint64_t bytes) {
    return fmt::format("{} of {} bytes", collective_names[static_cast<std::size_t>(collective)], bytes);
}

}  // namespace dlcast
