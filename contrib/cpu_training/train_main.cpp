// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast-cpu-training NETWORK BATCH STEPS`: trains on the CPU, alone or as ranks of mpirun, which average their
// gradients as DistributedDataParallel does. One JSON object on stdout: what trained, how long steps took, the loss.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "contrib/cpu_training/network.h"
#include "mpi/data_parallel_step.h"
#include "predictor/base/text.h"
#include "profiler/repeat.h"

namespace {

using namespace dlcast;

int refuse(const std::string& why) {
    fmt::print(stderr, "dlcast-cpu-training: error: {}\n", why);
    return 1;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

int train(const std::string& name, std::int64_t batch, std::int64_t steps, Ranks* ranks) {
    const int rank = ranks != nullptr ? ranks->rank() : 0, size = ranks != nullptr ? ranks->size() : 1;
    auto made = make_trained_network(name, batch, rank, size);
    if (!made) return refuse(made.error().message);
    std::unique_ptr<TrainedNetwork> own = std::move(*made);
    TrainedNetwork& net = *own;
    std::unique_ptr<DataParallelStep> together;
    if (ranks != nullptr) together = std::make_unique<DataParallelStep>(*ranks, std::move(own), size > 1);

    std::vector<double> step_s, losses;
    const double begin_s = steady_now_s();
    for (double last_s = begin_s; static_cast<std::int64_t>(step_s.size()) < steps;) {
        if (together != nullptr) {
            together->run_s();
        } else {
            net.forward();
            net.backward();
            net.update();
            net.clear_gradients();
        }
        losses.push_back(net.loss());
        const double now_s = steady_now_s();
        step_s.push_back(now_s - last_s);
        last_s = now_s;
    }
    const double all_s = steady_now_s() - begin_s;
    if (rank == 0)
        fmt::print(
            "{{\"network\":\"{}\",\"parameters\":{},\"ranks\":{},\"batch\":{},\"steps\":{},\"training_s\":{:.4f},"
            "\"step_median_ms\":{:.4f},\"step_mean_ms\":{:.4f},\"first_loss\":{:.4f},\"last_loss\":{:.4f}}}\n",
            name, net.parameters(), size, batch, steps, all_s, 1e3 * median(step_s),
            1e3 * all_s / static_cast<double>(steps), losses.front(), losses.back());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "usage: dlcast-cpu-training cnn|transformer BATCH STEPS\n");
        return 2;
    }
    const std::string name = argv[1];
    const auto batch = parse_number(argv[2]), steps = parse_number(argv[3]);
    if (!batch || !steps || !(*steps >= 1.0 && *steps <= 1e9) || !(*batch >= 1.0 && *batch <= 1e6))
        return refuse("BATCH and STEPS are whole numbers above 0");
    std::unique_ptr<Ranks> ranks;
    if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) {
        auto started = Ranks::start(&argc, &argv);
        if (!started) return refuse(started.error().message);
        ranks = std::move(*started);
    }
    return train(name, static_cast<std::int64_t>(*batch), static_cast<std::int64_t>(*steps), ranks.get());
}
