// SPDX-License-Identifier: GPL-2.0-or-later
// Two small networks that really train on a CPU. They are written with LibTorch, apart from the layer lists of
// cnn.json and transformer.json beside them, which describe them to a forecast.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "predictor/base/result.h"
#include "profiler/backend.h"

namespace dlcast {

/// Its forward takes the next batch of a data set made up once, whose labels can be learnt from its samples.
class TrainedNetwork : public TrainingNetwork {
public:
    virtual std::int64_t parameters() const = 0;
    virtual double loss() const = 0;  // of the last forward
};

/// "cnn": images [3, 32, 32], 10 classes, SGD with momentum. "transformer": 64 tokens of 1000, each with the class of
/// the token that follows by a fixed rule, AdamW. Batches of `batch` samples a rank; all ranks begin with the same
/// weights and see different samples. not_found: another name.
Result<std::unique_ptr<TrainedNetwork>> make_trained_network(const std::string& name, std::int64_t batch, int rank,
                                                             int ranks);

}  // namespace dlcast
