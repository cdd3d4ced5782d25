// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/micro_batch.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlcast {

Result<std::int64_t> micro_batch_of(const Training& training, const Layout& layout) {
    if (training.global_batch <= 0) {
        if (training.batch_size > 0) return training.batch_size;
        return invalid_argument("training: no batch size; add \"batch_size\"");
    }
    const std::int64_t steps = std::max<std::int64_t>(1, training.grad_accum);
    const bool derives_steps = training.micro_batch > 0;
    const std::int64_t parts = layout.dp * (derives_steps ? training.micro_batch : steps);
    if (training.global_batch % parts == 0) return derives_steps ? training.micro_batch : training.global_batch / parts;
    const std::int64_t below = training.global_batch / parts * parts, above = below + parts;
    return invalid_argument(
        fmt::format("training: a global batch of {} does not divide over {} data rank{}{}; {} would do{}",
                    training.global_batch, layout.dp, layout.dp == 1 ? "" : "s",
                    derives_steps ? fmt::format(" x a micro-batch of {}", training.micro_batch)
                    : steps > 1   ? fmt::format(" x {} micro-steps", steps)
                                  : "",
                    below > 0 ? fmt::format("{} or {}", below, above) : fmt::format("{}", above),
                    below > 0                                                       ? ""
                    : derives_steps && training.global_batch < training.micro_batch ? ", or a smaller micro-batch"
                                                                                    : ", or fewer GPUs"));
}

std::int64_t micro_steps_of(const Training& training, const Layout& layout) {
    if (training.global_batch <= 0 || training.micro_batch <= 0) return std::max<std::int64_t>(1, training.grad_accum);
    return std::max<std::int64_t>(1, training.global_batch / (layout.dp * training.micro_batch));
}

}  // namespace dlcast
