// SPDX-License-Identifier: GPL-2.0-or-later
// What the user declares: model, training, data set; and how it is read from a name, a file or a payload.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"
#include "predictor/device/device.h"
#include "predictor/model/layer.h"
#include "predictor/timing/operator.h"

namespace dlcast {

/// Degrees of parallelism; dp = 0 means world size over the product of the others.
struct Parallel {
    int dp = 0, tp = 1, pp = 1, vp = 1, cp = 1, ep = 1;
    bool sp = false;
    bool no_sync = true;             // gradients travel once a step, not behind every micro-step
    bool tp_over_nodes = false;      // tensor ranks on several nodes are meant
    int zero = 0;                    // ZeRO stage 0-3
    std::string fsdp;                // "", full, grad_op, hybrid
    bool independent = false;        // replicas that exchange nothing: rows of `steps`; never set by a model file
    std::string place = "parallel";  // where it is declared; starts messages
};

/// A step time somebody measured: the anchor of a forecast on other GPUs.
struct MeasuredStep {
    std::string gpu;
    int gpus = 1;
    std::int64_t batch_size = 0;  // 0: the training's
    double step_ms = 0.0;
    std::optional<Precision> precision = std::nullopt;  // absent: the training's
    std::string place = "measured";                     // where it is declared; starts messages
};

struct Training {
    std::int64_t batch_size = 0;    // per GPU
    std::int64_t global_batch = 0;  // where the file says "batch_per": "global"; batch_size is then derived
    std::int64_t grad_accum = 1;
    std::int64_t micro_batch = 0;  // beside a global batch, of one GPU and micro-step; grad_accum is then derived
    // Exactly one of these three for a walltime; all absent: no duration declared.
    std::optional<double> epochs;
    std::optional<std::int64_t> steps;
    std::optional<double> tokens;
    Precision precision = Precision::fp32;
    Optimizer optimizer = Optimizer::sgd;
    Parallel parallel;
    std::string activation_checkpointing = "none";  // none, selective, full
    std::string framework = "pytorch";
    bool compile = false;
    bool channels_last = false;
    bool forward_only = false;  // evaluation rows of `steps`; never set by a model file
    std::string eval_every;     // "", "epoch", or steps
    double checkpoint_minutes = 0.0;
    std::vector<MeasuredStep> measured;
};

struct Dataset {
    std::string name;
    std::int64_t samples = 0;  // 0: unknown
    std::int64_t validation_samples = 0;
    std::int64_t classes = 0;
    std::int64_t seq_len = 0, image_size = 0;  // 0: not stated
    double bytes = 0.0;
    double tokens = 0.0;             // of a text corpus; samples = tokens / sequence length
    std::int64_t masked_tokens = 0;  // positions a masked language model predicts; 0: 15 % of them
};

struct Workload {
    ModelSpec model;
    Training training;
    Dataset dataset;
    std::vector<std::string> assumed;  // every default taken, as sentences ("batch_size 32 (not stated)")
    std::vector<std::string> warnings;
};

/// Overrides from the command line; absent ones leave the declaration alone. `set` holds "dotted.key=value".
struct WorkloadOverrides {
    std::optional<std::int64_t> batch_size, grad_accum, steps, seq_len, image_size;
    std::optional<double> epochs, tokens;
    std::optional<Precision> precision;
    std::optional<std::string> optimizer, dataset;
    std::vector<std::string> set;
    std::size_t from_train = 0;  // of `set`, how many of the first were written as --train
};

/// A self-contained dlcast JSON object: references to other files are resolved and only what matters is kept.
struct Declaration {
    Value value;
    std::string source;                                     // starts messages: the file's name, or the zoo name
    std::map<std::string, std::string> other_sources = {};  // of "model", "dataset", "training" in files that it names

    /// The file that the places inside this member of `value` belong to.
    const std::string& source_of(const std::string& member) const;
};

/// MODEL as people write it: an existing file or directory wins over a zoo name (with or without organisation, any
/// case). The format is told by content. At most 1 MiB, depth 64. Errors: place, fault, remedy; a wrong name with the
/// nearest one.
Result<Declaration> read_model_argument(const std::string& argument);
/// The compact text that travels to the controller (<= 64 KiB, else invalid_argument).
Result<std::string> to_payload(const Declaration& declaration);
/// Parses a payload strictly: it may be forged. Opens no file.
Result<Declaration> parse_payload(std::string_view payload);
/// Builds layers, shapes and defaults.
Result<Workload> to_workload(const Declaration& declaration, const WorkloadOverrides& overrides = {});

/// Names of the zoo, for messages and `--list`.
std::vector<std::string> zoo_names();

std::optional<Precision> precision_from(std::string_view name);
std::optional<Optimizer> optimizer_from(std::string_view name);

}  // namespace dlcast
