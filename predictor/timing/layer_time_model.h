// SPDX-License-Identifier: GPL-2.0-or-later
// The time of operators on devices. Two implementations: the network in the LibTorch module, and the analytic model
// that always works.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/device/device.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// Why a time may be wrong.
struct Doubts {
    bool analytic = false;         // no network is there, or none knows the operator: a typical efficiency answers
    bool unseen_gpu = false;       // nothing was measured on the GPU; its data sheet stands for it
    bool unseen_calls = false;     // something was, at the site, but the weights know of no calls like these
    bool left_calls = false;       // calls like these were, and left out: they did not forecast what was held out
    bool far_from_data = false;    // sizes outside of what training saw
    bool other_precision = false;  // measured in fp32 alone; the rate of the precision is the data sheet's
    bool operator==(const Doubts&) const = default;
};

/// Time of one call: log-normal around `median_s` with standard deviation `log_sd` of the natural logarithm.
struct OperatorTime {
    double median_s = 0.0;
    double log_sd = 0.0;
    Doubts doubts = {};
};

/// Around what a clock ran. A forecast sums kernels; measured tables often hold more than the kernel.
enum class Clock {
    kernel,   // one kernel inside a running stream, as a profiler reports it
    call,     // GPU events around one call from an idle host (PyTorch): the host's launch is a floor under it
    session,  // host wall clock around a call of the framework (TensorFlow 1 session): overheads add to it
};

/// What rows measured on a GPU say beside a network that never saw it, as logarithms: its launches, its arithmetic and
/// its traffic against what the network expects. Each network under each family of clocks has its own (group_fit.h).
struct GroupOffsets {
    double launch = 0.0, compute = 0.0, memory = 0.0;
    int rows = 0;  // measured
};

/// What to predict; what is pointed to must outlive the call.
struct OperatorQuery {
    const Operator* op;
    const Device* device;
    Clock clock = Clock::kernel;
    const GroupOffsets* offsets = nullptr;  // none where null
};

class LayerTimeModel {
public:
    virtual ~LayerTimeModel() = default;
    /// One time for each query, in order. All queries go through the network in one batch: ask once for all layers of
    /// all candidate devices. With Clock::kernel: kernel time plus launch; no framework overhead of the host. Safe to
    /// call from several threads.
    virtual Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const = 0;
    /// "torch" or "analytic", for admin_comment.
    virtual std::string by() const = 0;
    /// Id of the weights (from their manifest), "" for the analytic model.
    virtual std::string weights_id() const = 0;
};

/// t = launch + max(flops / (efficiency x peak), bytes / (efficiency x bandwidth)) with one typical efficiency an
/// operator kind.
std::unique_ptr<LayerTimeModel> make_analytic_model();

/// The network in `weights_dir`, evaluated by the module at `module_path` (opened RTLD_LOCAL, never closed).
/// unavailable: module or weights missing, broken, or of another feature schema.
Result<std::unique_ptr<LayerTimeModel>> open_torch_model(const std::string& module_path,
                                                         const std::string& weights_dir);

}  // namespace dlcast
