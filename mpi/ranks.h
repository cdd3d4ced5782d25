// SPDX-License-Identifier: GPL-2.0-or-later
// The ranks of a sweep, and waiting for them with patience that ends: a rank that fails or hangs is named, and the
// sweep ends.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "predictor/base/result.h"

namespace dlcast {

/// MPI for one thread at a time; MPI_COMM_WORLD for the work and a communicator of its own for news of ranks.
class Ranks {
public:
    /// Errors: MPI does not start.
    static Result<std::unique_ptr<Ranks>> start(int* argc, char*** argv);
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    int nodes() const { return nodes_; }
    int ranks_here() const { return ranks_here_; }                    // on this rank's host
    int rank_here() const { return rank_here_; }                      // among these
    const std::vector<std::string>& hosts() const { return hosts_; }  // by rank
    const std::string& host() const { return hosts_[static_cast<std::size_t>(rank_)]; }
    MPI_Comm work() const { return MPI_COMM_WORLD; }

    /// How long a rank may take to come to what all do together; "samples so far are in FILE" ends each message.
    void set_patience(double seconds, std::string kept);

    /// Waits for all of `requests` (then null) by polling. Where patience ends, the sweep does: rank 0 asks who is
    /// there, names whoever does not answer, and aborts. `what` says what all were at: "all_reduce of 1024 bytes".
    void wait(std::vector<MPI_Request>& requests, const std::string& what);
    void wait(MPI_Request request, const std::string& what);
    /// The same for what is no request of MPI.
    void wait_until(const std::function<bool()>& done, const std::string& what);
    /// Lets messages move on; ends the sweep where a rank has failed.
    void poll();

    void barrier(const std::string& what);
    /// The largest over all ranks, element by element.
    void maximum(std::vector<double>& values, const std::string& what);
    /// Rank 0's values, for all.
    void from_first(std::vector<double>& values, const std::string& what);
    /// Each rank's text, on rank 0, by rank; empty elsewhere.
    std::vector<std::string> gather(const std::string& text, const std::string& what);

    /// This rank cannot go on: rank 0 says which one, where and why, and the sweep ends.
    [[noreturn]] void fail(const std::string& why);

private:
    Ranks();
    [[noreturn]] void patience_is_over(const std::string& what);
    [[noreturn]] void name_the_missing(const std::string& what);
    [[noreturn]] void end(const std::string& message);
    bool test(std::vector<MPI_Request>& requests);
    std::string place(int rank) const;
    double grace_s() const;

    MPI_Comm news_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, nodes_ = 1, ranks_here_ = 1, rank_here_ = 0;
    std::vector<std::string> hosts_;
    double patience_s_ = 120.0;
    std::string kept_;
};

}  // namespace dlcast
