// SPDX-License-Identifier: GPL-2.0-or-later
// Run under mpirun by sweep_program_test.py: a data-parallel step averages gradients over the ranks, and a rank that
// fails is named.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mpi/data_parallel_step.h"

using namespace dlcast;

namespace {

// Three weights; their gradients on rank r are r + 1, 10 (r + 1), 100 (r + 1), told from the last to the first.
class FakeNetwork final : public TrainingNetwork {
public:
    explicit FakeNetwork(int rank) : rank_(rank) {}
    std::vector<std::int64_t> gradient_sizes() const override { return {7, 300'000, 11}; }
    void place_gradients(const std::vector<float*>& places) override { places_ = places; }
    void on_ready(std::function<void(std::size_t)> ready) override { ready_ = std::move(ready); }
    void forward() override {}
    void backward() override {
        const auto sizes = gradient_sizes();
        for (std::size_t i = sizes.size(); i-- > 0;) {
            const float value = std::pow(10.0f, static_cast<float>(i)) * static_cast<float>(rank_ + 1);
            std::fill_n(places_[i], sizes[i], value);
            if (ready_) ready_(i);
        }
    }
    void update() override {
        for (std::size_t i = 0; i < places_.size(); ++i) seen.push_back(*places_[i]);
    }
    void clear_gradients() override {}
    std::vector<float> seen;

private:
    int rank_;
    std::vector<float*> places_;
    std::function<void(std::size_t)> ready_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto ranks = Ranks::start(&argc, &argv);
    if (!ranks) return 1;
    if (argc > 1 && std::strcmp(argv[1], "fail") == 0) {
        (*ranks)->set_patience(20.0, "");
        if ((*ranks)->rank() == (*ranks)->size() - 1) (*ranks)->fail("its disk is full");
        (*ranks)->barrier("a barrier");
        return 0;
    }
    auto network = std::make_unique<FakeNetwork>((*ranks)->rank());
    FakeNetwork& fake = *network;
    DataParallelStep step(**ranks, std::move(network), true);
    step.run_s();
    // The mean of 1 .. n is (n + 1) / 2.
    const float mean = static_cast<float>((*ranks)->size() + 1) / 2.0f;
    const bool right =
        fake.seen.size() == 3 && fake.seen[0] == mean && fake.seen[1] == 10 * mean && fake.seen[2] == 100 * mean;
    if (!right) (*ranks)->fail("gradients are not the mean over ranks");
    if ((*ranks)->rank() == 0) fmt::print("averaged in {} buckets\n", step.buckets());
    return 0;
}
