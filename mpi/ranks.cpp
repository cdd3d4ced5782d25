// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/ranks.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "predictor/base/text.h"
#include "profiler/repeat.h"

namespace dlcast {
namespace {

enum Tag { tag_here = 1, tag_failed = 2, tag_text = 3 };

// After its patience ended, rank 0 waits so long for the others' answers: theirs ended at the same time, give or take
// what they were late, which is less than that patience.
constexpr double longest_grace_s = 5.0;

// The node as scontrol names it, so that a slow one can be drained by what is printed; outside of Slurm the host's
// name.
void put_host(std::vector<char>& out) {
    int length = 0;
    MPI_Get_processor_name(out.data(), &length);
    const char* node = std::getenv("SLURMD_NODENAME");  // slurmd sets it in each step, so in what mpirun starts by srun
    if (node == nullptr || *node == 0) return;
    std::fill(out.begin(), out.end(), 0);
    std::strncpy(out.data(), node, out.size() - 1);
}

std::vector<std::string> gather_hosts(int size) {
    constexpr int longest = MPI_MAX_PROCESSOR_NAME;
    std::vector<char> mine(longest, 0), all(static_cast<std::size_t>(longest) * static_cast<std::size_t>(size), 0);
    put_host(mine);
    MPI_Allgather(mine.data(), longest, MPI_CHAR, all.data(), longest, MPI_CHAR, MPI_COMM_WORLD);
    std::vector<std::string> out;
    for (int i = 0; i < size; ++i) out.emplace_back(&all[static_cast<std::size_t>(i * longest)]);
    return out;
}

}  // namespace

Ranks::Ranks() = default;

Result<std::unique_ptr<Ranks>> Ranks::start(int* argc, char*** argv) {
    int provided = 0;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED)
        return unavailable("MPI does not start; run it by `mpirun -np N dlcast-sweep ...` or in a batch job");
    std::unique_ptr<Ranks> out(new Ranks);
    Ranks& ranks = *out;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.size_);
    MPI_Comm_dup(MPI_COMM_WORLD, &ranks.news_);
    ranks.hosts_ = gather_hosts(ranks.size_);
    ranks.nodes_ = static_cast<int>(std::set<std::string>(ranks.hosts_.begin(), ranks.hosts_.end()).size());
    ranks.ranks_here_ = static_cast<int>(std::count(ranks.hosts_.begin(), ranks.hosts_.end(), ranks.host()));
    ranks.rank_here_ =
        static_cast<int>(std::count(ranks.hosts_.begin(), ranks.hosts_.begin() + ranks.rank_, ranks.host()));
    return out;
}

Ranks::~Ranks() {
    if (news_ != MPI_COMM_NULL) MPI_Comm_free(&news_);
    MPI_Finalize();
}

void Ranks::set_patience(double seconds, std::string kept) {
    patience_s_ = seconds;
    kept_ = std::move(kept);
}

std::string Ranks::place(int rank) const {
    return fmt::format("rank {} on {}", rank, hosts_[static_cast<std::size_t>(rank)]);
}

double Ranks::grace_s() const { return std::min(longest_grace_s, patience_s_); }

bool Ranks::test(std::vector<MPI_Request>& requests) {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
}

void Ranks::poll() {
    if (rank_ != 0) return;
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_failed, news_, &there, &status);
    if (!there) return;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string why(static_cast<std::size_t>(length), ' ');
    MPI_Recv(why.data(), length, MPI_CHAR, status.MPI_SOURCE, tag_failed, news_, MPI_STATUS_IGNORE);
    end(fmt::format("{} failed: {}", place(status.MPI_SOURCE), why));
}

void Ranks::wait_until(const std::function<bool()>& done, const std::string& what) {
    // Looking for news costs a lock; it may wait for the thousandth look at the work.
    constexpr int looks = 1000;
    const double begin_s = steady_now_s();
    for (int i = 1; !done(); ++i) {
        if (i % looks != 0) continue;
        poll();
        if (steady_now_s() - begin_s > patience_s_) patience_is_over(what);
        ::sched_yield();
    }
}

void Ranks::wait(std::vector<MPI_Request>& requests, const std::string& what) {
    wait_until([&] { return test(requests); }, what);
}

void Ranks::wait(MPI_Request request, const std::string& what) {
    std::vector<MPI_Request> one{request};
    wait(one, what);
}

void Ranks::barrier(const std::string& what) {
    MPI_Request request;
    MPI_Ibarrier(work(), &request);
    wait(request, what);
}

void Ranks::maximum(std::vector<double>& values, const std::string& what) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, work(), &request);
    wait(request, what);
}

void Ranks::from_first(std::vector<double>& values, const std::string& what) {
    MPI_Request request;
    MPI_Ibcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, 0, work(), &request);
    wait(request, what);
}

std::vector<std::string> Ranks::gather(const std::string& text, const std::string& what) {
    int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_), 0);
    MPI_Request request;
    MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, work(), &request);
    wait(request, what);
    std::vector<MPI_Request> requests;
    std::vector<std::string> out;
    if (rank_ == 0) {
        for (int i = 0; i < size_; ++i)
            out.emplace_back(static_cast<std::size_t>(lengths[static_cast<std::size_t>(i)]), ' ');
        for (int i = 0; i < size_; ++i) {
            std::string& place = out[static_cast<std::size_t>(i)];
            requests.emplace_back();
            MPI_Irecv(place.data(), static_cast<int>(place.size()), MPI_CHAR, i, tag_text, work(), &requests.back());
        }
    }
    requests.emplace_back();
    MPI_Isend(text.data(), length, MPI_CHAR, 0, tag_text, work(), &requests.back());
    wait(requests, what);
    return out;
}

void Ranks::fail(const std::string& why) {
    if (rank_ == 0) end(fmt::format("{} failed: {}", place(0), why));
    const std::string text = one_line(why, 1000);
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, tag_failed, news_);
    // Rank 0 ends us all. Where it does not, it hangs itself.
    const double begin_s = steady_now_s();
    while (steady_now_s() - begin_s < patience_s_ + grace_s()) ::usleep(100'000);
    end(fmt::format("{} failed: {}; and rank 0 does not answer", place(rank_), text));
}

void Ranks::patience_is_over(const std::string& what) {
    if (rank_ == 0) name_the_missing(what);
    int here = rank_;
    MPI_Request request;
    MPI_Isend(&here, 1, MPI_INT, 0, tag_here, news_, &request);
    // The lowest rank that is there speaks where rank 0 does not.
    const double begin_s = steady_now_s();
    while (steady_now_s() - begin_s < grace_s() * (2 + rank_)) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        ::usleep(10'000);
    }
    end(fmt::format("{} hangs: nothing came of it at {} for {:.0f} s", place(0), what, patience_s_));
}

void Ranks::name_the_missing(const std::string& what) {
    std::set<int> missing;
    for (int i = 1; i < size_; ++i) missing.insert(i);
    const double begin_s = steady_now_s();
    while (!missing.empty() && steady_now_s() - begin_s < grace_s()) {
        poll();
        int there = 0, rank = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, tag_here, news_, &there, &status);
        if (!there) {
            ::usleep(1000);
            continue;
        }
        MPI_Recv(&rank, 1, MPI_INT, status.MPI_SOURCE, tag_here, news_, MPI_STATUS_IGNORE);
        missing.erase(rank);
    }
    if (missing.empty())
        end(fmt::format(
            "all ranks answer, but {} did not end within {:.0f} s; is the network down, or --timeout too short?", what,
            patience_s_));
    std::vector<std::string> names;
    for (const int i : missing) names.push_back(place(i));
    end(fmt::format("{} {}: {} did not end within {:.0f} s, and no answer came", fmt::join(names, ", "),
                    names.size() == 1 ? "hangs" : "hang", what, patience_s_));
}

void Ranks::end(const std::string& message) {
    const std::string text = kept_.empty() ? message : message + "; " + kept_;
    fmt::print(stderr, "\ndlcast-sweep: error: {}\n", one_line(text, std::string::npos));
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    ::_exit(1);
}

}  // namespace dlcast
