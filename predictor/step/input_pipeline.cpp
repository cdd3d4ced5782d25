// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/input_pipeline.h"

#include <algorithm>

namespace dlcast {

double input_s(const ModelSpec& model, double samples, int gpus, const InputRates& rates) {
    const double worker_per_s = model.image_size > 0 ? rates.images_per_s : rates.texts_per_s;
    if (!(worker_per_s > 0) || rates.workers_per_gpu < 1 || gpus < 1) return 0.0;
    return samples / (worker_per_s * rates.workers_per_gpu * gpus);
}

void add_input_waits(const std::vector<StepQuery>& queries, const InputRates& rates, std::vector<StepEstimate>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        StepEstimate& step = steps[i];
        const double loader_s =
            input_s(queries[i].workload->model, step.samples_per_step, queries[i].allocation.world_size(), rates);
        step.input_wait_s = std::max(0.0, loader_s - step.step_s);
        step.step_s += step.input_wait_s;
    }
}

}  // namespace dlcast
