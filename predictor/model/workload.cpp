// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/model/dataset.h"
#include "predictor/model/hf_config.h"
#include "predictor/model/mismatch.h"
#include "predictor/model/overrides.h"
#include "predictor/model/shape.h"
#include "predictor/model/trainable.h"
#include "predictor/model/training.h"
#include "predictor/model/written.h"
#include "predictor/model/zoo.h"

namespace dlcast {
namespace {

constexpr std::size_t longest_shown_name = 80;

Result<ModelSpec> build_model(const Value& model, const std::string& source, const BuildOptions& options,
                              std::int64_t stated_seq_len, std::vector<std::string>& assumed) {
    if (model.is_string()) {
        const auto name = find_zoo_name(model.as_string());
        if (name) return build_zoo_model(*name, options, assumed);
        const std::string near = nearest_name(model.as_string(), zoo_names());
        return not_found(
            at_place(source, model.at,
                     fmt::format("no known model \"{}\"{}", one_line(model.as_string(), longest_shown_name),
                                 near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near))));
    }
    if (model.find("layers")) return build_written_model(model, source, stated_seq_len, assumed);
    if (model.find("model_type")) {
        const Value* name_value = model.find("name");
        const std::string name = name_value && name_value->is_string() ? name_value->as_string() : "";
        return build_hf_model(model, source, name, options, assumed);
    }
    return invalid_argument(
        at_place(source, model.at, fmt::format("model is {}; it should be a name or an object", model.kind_name())));
}

// A corpus has as many samples as its tokens fill sequences.
void count_samples(Dataset& dataset, const ModelSpec& model) {
    if (dataset.samples == 0 && dataset.tokens > 0.0 && model.seq_len > 0)
        dataset.samples = static_cast<std::int64_t>(dataset.tokens / static_cast<double>(model.seq_len));
}

// Batch times the largest tensor stays far below what 64-bit sizes hold.
Status check_sizes(const Workload& w) {
    double largest = 1.0;
    for (const Layer& layer : w.model.layers)
        largest = std::max({largest, elements(layer.input), elements(layer.output)});
    const std::int64_t batch = std::max(w.training.batch_size, w.training.global_batch);
    if (largest * static_cast<double>(batch) < 1e17) return ok();
    return invalid_argument(fmt::format("a batch of {} makes tensors of over 1e17 elements; lower batch_size", batch));
}

void name_defaults(const TrainingRead& read, const ModelSpec& model, Workload& w) {
    if (!read.batch_stated)
        w.assumed.push_back(fmt::format("batch_size {} per device (not stated)", w.training.batch_size));
    if (!read.precision_stated) w.assumed.push_back("precision fp32 (not stated)");
    if (!read.optimizer_stated) {
        // What the public recipes of these families use.
        w.training.optimizer = model.seq_len > 0 ? Optimizer::adamw : Optimizer::momentum;
        w.assumed.push_back(fmt::format("optimizer {} (not stated)", to_string(w.training.optimizer)));
    }
    if (!read.layout_stated && model.image_size > 0) w.assumed.push_back("layout nchw (not stated)");
}

// Small images are usually resized for networks that others trained.
void name_image_size(const TrainingRead& read, const BuildOptions& options, Workload& w) {
    constexpr std::int64_t usual = 224;
    if (read.image_size > 0 || w.dataset.image_size == 0 || w.dataset.image_size == usual) return;
    if (w.model.family.empty() || w.model.image_size != options.image_size) return;  // layers keep their own
    w.assumed.push_back(fmt::format("image_size {} ({}'s images; state image_size where they are resized)",
                                    w.model.image_size, w.dataset.name.empty() ? "the data set" : w.dataset.name));
}

// A layout that options say has its place there, not in the file.
std::string layout_place(const WorkloadOverrides& overrides, const std::string& in_file) {
    std::vector<std::string> options;
    for (std::size_t i = 0; i < overrides.set.size(); ++i)
        if (overrides.set[i].starts_with("training.parallel")) options.push_back(option_text(overrides, i));
    if (options.empty()) return in_file;
    return one_line(fmt::format("{}", fmt::join(options, " ")), longest_shown_name) + ": parallel";
}

}  // namespace

const std::string& Declaration::source_of(const std::string& member) const {
    const auto found = other_sources.find(member);
    return found == other_sources.end() ? source : found->second;
}

Result<Workload> to_workload(const Declaration& declaration, const WorkloadOverrides& overrides) {
    auto changed = apply_overrides(declaration, overrides);
    if (!changed) return changed.error();
    const Value& root = *changed;
    const std::string& source = declaration.source;
    const Value* model = root.find("model");
    if (!model) return invalid_argument(at_place(source, root.at, "no \"model\"; add a zoo name or a description"));

    Workload w;
    if (const Value* dataset = root.find("dataset")) {
        auto read = read_dataset(*dataset, declaration.source_of("dataset"));
        if (!read) return read.error();
        w.dataset = *read;
    }
    auto training = read_training(root.find("training"), declaration.source_of("training"));
    if (!training) return training.error();
    w.training = training->training;
    w.assumed = training->assumed;
    w.training.parallel.place = layout_place(overrides, w.training.parallel.place);

    BuildOptions options;
    options.image_size = training->image_size > 0 ? training->image_size : w.dataset.image_size;
    options.seq_len = training->seq_len > 0 ? training->seq_len : w.dataset.seq_len;
    options.classes = w.dataset.classes;
    options.masked_tokens = w.dataset.masked_tokens;
    options.task = training->task;
    if (options.task.empty() && w.dataset.name == "squad") {
        options.task = "question_answering";
        options.task_by_data_set = true;
    }
    options.framework = w.training.framework;
    options.compile = w.training.compile;
    auto built = build_model(*model, declaration.source_of("model"), options, training->seq_len, w.assumed);
    if (!built) return built.error();
    w.model = std::move(*built);
    // Names go into messages, logs and records: of other people's screens, too.
    w.model.name = one_line(w.model.name, longest_shown_name);
    w.dataset.name = one_line(w.dataset.name, longest_shown_name);
    if (auto s = apply_trainable(w.model, training->trainable, w.assumed); !s)
        return invalid_argument(at_place(declaration.source_of("training"), training->trainable_at, s.error().message));
    if (auto s = check_sizes(w); !s) return invalid_argument(at_place(source, root.at, s.error().message));
    count_samples(w.dataset, w.model);
    // Files of other tools may say in what the model computes; the training's own word wins.
    const Value* precision = model->is_object() && model->find("layers") ? model->find("precision") : nullptr;
    if (precision && !training->precision_stated) {
        w.training.precision = precision_from(precision->as_string()).value_or(w.training.precision);
        training->precision_stated = true;
    }
    name_defaults(*training, w.model, w);
    name_image_size(*training, options, w);
    w.warnings = find_mismatches(*training, w);
    return w;
}

}  // namespace dlcast
