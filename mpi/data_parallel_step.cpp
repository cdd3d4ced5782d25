// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/data_parallel_step.h"

#include <numeric>

#include "profiler/repeat.h"

namespace dlcast {

DataParallelStep::DataParallelStep(Ranks& ranks, std::unique_ptr<TrainingNetwork> network, bool exchange)
    : ranks_(ranks), network_(std::move(network)), exchange_(exchange) {
    const std::vector<std::int64_t> sizes = network_->gradient_sizes();
    constexpr auto width = static_cast<std::int64_t>(sizeof(float));
    buckets_ = make_buckets(sizes, first_bucket_bytes / width, other_bucket_bytes / width);
    memory_.resize(static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})), 0.0f);
    bucket_of_.resize(sizes.size());
    std::vector<float*> places(sizes.size());
    std::int64_t at = 0;
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        offset_.push_back(at);
        for (const std::size_t g : buckets_[b].gradients) {
            bucket_of_[g] = b;
            places[g] = memory_.data() + at;
            at += sizes[g];
        }
    }
    network_->place_gradients(places);
    if (exchange_) network_->on_ready([this](std::size_t gradient) { ready(gradient); });
}

void DataParallelStep::ready(std::size_t gradient) {
    --open_[bucket_of_[gradient]];
    send_whole_buckets();
    // MPI moves messages on only while it is called.
    int done = 0;
    if (!requests_.empty())
        MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
}

void DataParallelStep::send_whole_buckets() {
    for (; sent_ < buckets_.size() && open_[sent_] == 0; ++sent_) {
        requests_.emplace_back();
        MPI_Iallreduce(MPI_IN_PLACE, memory_.data() + offset_[sent_], static_cast<int>(buckets_[sent_].elements),
                       MPI_FLOAT, MPI_SUM, ranks_.work(), &requests_.back());
    }
}

double DataParallelStep::run_s() {
    ranks_.barrier("the start of a training step");
    const double begin_s = steady_now_s();
    requests_.clear();
    open_.clear();
    sent_ = 0;
    for (const Bucket& bucket : buckets_) open_.push_back(bucket.gradients.size());
    network_->forward();
    network_->backward();
    if (exchange_) {
        // A weight that the loss does not reach has no gradient: its bucket goes now, as zeros.
        for (std::size_t& open : open_) open = 0;
        send_whole_buckets();
        ranks_.wait(requests_, "the all-reduce of gradients");
        const float share = 1.0f / static_cast<float>(ranks_.size());
        for (float& g : memory_) g *= share;
    }
    network_->update();
    const double seconds = steady_now_s() - begin_s;
    network_->clear_gradients();
    return seconds;
}

}  // namespace dlcast
