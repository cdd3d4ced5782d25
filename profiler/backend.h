// SPDX-License-Identifier: GPL-2.0-or-later
// What measures: a library on a device. One implementation a library, in a file of its own; CMake picks the files.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/workload.h"
#include "predictor/samples/timing_sample.h"

namespace dlcast {

/// Work whose inputs lie ready in the device's memory.
class PreparedWork {
public:
    virtual ~PreparedWork() = default;
    /// Runs it once, to its end. Seconds of it, by the backend's clock.
    virtual double run_s() = 0;
};

/// A network of a model's layers with its own weights, that trains on data made up.
class TrainingNetwork {
public:
    virtual ~TrainingNetwork() = default;
    /// Elements of each weight's gradient, in the order of the layers; each is 4 bytes wide.
    virtual std::vector<std::int64_t> gradient_sizes() const = 0;
    /// Gradients are kept in `places` from now on, one for each weight.
    virtual void place_gradients(const std::vector<float*>& places) = 0;
    /// `ready(i)` is called inside backward as soon as gradient i is whole.
    virtual void on_ready(std::function<void(std::size_t)> ready) = 0;
    virtual void forward() = 0;   // to the loss
    virtual void backward() = 0;  // of the last forward; adds to the gradients
    virtual void update() = 0;    // of the weights by their gradients
    virtual void clear_gradients() = 0;
};

class Backend {
public:
    virtual ~Backend() = default;
    virtual std::string name() const = 0;  // "torch-cpu": `backend` of its samples
    virtual SampleClock clock() const = 0;
    virtual std::map<std::string, std::string> versions() const = 0;
    /// The device by its name, and its clocks as they are now.
    virtual SampleDevice device() const = 0;
    /// Of the device's memory, that a measurement may take now; 0: not told.
    virtual double free_bytes() const = 0;
    /// Whether attention runs without an array of its scores, queries x keys of each head.
    virtual bool fused_attention() const = 0;
    /// unavailable: the library has no such operator, or the device no such precision, and why.
    virtual Result<std::unique_ptr<PreparedWork>> prepare(const Operator& op) = 0;
    /// A part of a step of the whole model, on one device. unavailable: as above, naming the layer.
    virtual Result<std::unique_ptr<PreparedWork>> prepare(const ModelSpec& model, const Training& training,
                                                          const MeasuredPass& pass) = 0;
    virtual Result<std::unique_ptr<TrainingNetwork>> network(const ModelSpec& model, const Training& training) = 0;
};

}  // namespace dlcast
