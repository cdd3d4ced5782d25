// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/explanation.h"

#include <fmt/format.h>

#include <vector>

#include "predictor/base/json.h"
#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/model/shape.h"

namespace dlcast {
namespace {

struct Setting {
    std::string key, value, origin;
};

std::string stated_at(const Declaration& d, const char* part, const Value& value) {
    return value.at.line > 0 ? at_place(d.source_of(part), value.at, "stated") : "stated on the command line";
}

// Where a member of `part` was stated: "job.json:3:5", or `otherwise`.
std::string origin_of(const Declaration& d, const char* part, const char* key, const std::string& otherwise) {
    const Value* object = d.value.find(part);
    if (object && object->is_string())
        return at_place(d.source_of(part), object->at, fmt::format("data set {}", object->as_string()));
    const Value* member = object ? object->find(key) : nullptr;
    return member ? stated_at(d, part, *member) : otherwise;
}

// As declared: names of layers, LoRA, or all.
std::string trainable_of(const Declaration& d) {
    const Value* training = d.value.find("training");
    const Value* stated = training ? training->find("trainable") : nullptr;
    return stated && stated->is_string() ? stated->as_string() : "all";
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

// Degrees and measured steps, one row each as they were stated.
void add_nested(const Declaration& d, const Training& t, std::vector<Setting>& out) {
    const Value* training = d.value.find("training");
    if (const Value* parallel = training ? training->find("parallel") : nullptr)
        for (const Value::Member& member : parallel->as_object())
            out.push_back({"parallel." + member.key,
                           member.value.is_string() ? member.value.as_string() : write_json(member.value),
                           stated_at(d, "training", member.value)});
    const Value* measured = training ? training->find("measured") : nullptr;
    for (std::size_t i = 0; i < t.measured.size(); ++i) {
        const MeasuredStep& m = t.measured[i];
        out.push_back({"measured", fmt::format("{:g} ms on {} x {}", m.step_ms, m.gpus, m.gpu),
                       stated_at(d, "training", measured->is_array() ? measured->as_array()[i] : *measured)});
    }
}

std::vector<Setting> settings_of(const Declaration& d, const Workload& w) {
    const Training& t = w.training;
    std::vector<Setting> out;
    const auto training = [&](const char* key, std::string value, const char* standard = "default") {
        out.push_back({key, std::move(value), origin_of(d, "training", key, standard)});
    };
    const auto data = [&](const char* key, std::string value, const char* standard) {
        out.push_back({fmt::format("dataset.{}", key), std::move(value), origin_of(d, "dataset", key, standard)});
    };
    training("batch_size", fmt::format("{}{}", t.global_batch > 0 ? t.global_batch : t.batch_size,
                                       t.global_batch > 0 ? " of all GPUs" : " a GPU"));
    training("batch_per", t.global_batch > 0 ? "global" : "gpu");
    if (t.micro_batch > 0) training("micro_batch", fmt::format("{} a GPU and micro-step", t.micro_batch));
    training("grad_accum",
             t.micro_batch > 0 ? "what makes the batch on the job's GPUs" : fmt::format("{}", t.grad_accum));
    const Value* stated_model = d.value.find("model");
    training("precision", to_string(t.precision),
             stated_model && stated_model->find("precision") ? "the model's" : "default");
    training("optimizer", to_string(t.optimizer), "default of this kind of model");
    if (t.epochs) training("epochs", number(*t.epochs));
    if (t.steps) training("steps", fmt::format("{}", *t.steps));
    if (t.tokens) training("tokens", number(*t.tokens));
    if (!t.epochs && !t.steps && !t.tokens) training("epochs", "none: no duration", "not stated");
    training("eval_every", t.eval_every.empty() ? "no validation" : t.eval_every);
    training("checkpoint_minutes", t.checkpoint_minutes > 0 ? number(t.checkpoint_minutes) : "no checkpoints");
    training("trainable", trainable_of(d));
    const Value* stated_training = d.value.find("training");
    if (const Value* task = stated_training ? stated_training->find("task") : nullptr)
        training("task", task->as_string());
    training("activation_checkpointing", t.activation_checkpointing);
    training("framework", t.framework);
    training("compile", t.compile ? "true" : "false");
    if (w.model.image_size > 0) training("layout", t.channels_last ? "nhwc" : "nchw");
    add_nested(d, t, out);
    // Layers written out keep their own sizes, whatever the data set's.
    const bool adapts = !stated_model || !stated_model->find("layers");
    const auto is_data_set_s = [&](std::int64_t size, std::int64_t of_data_set) {
        return adapts && of_data_set > 0 && size == of_data_set;
    };
    if (w.model.image_size > 0)
        training("image_size", fmt::format("{}", w.model.image_size),
                 is_data_set_s(w.model.image_size, w.dataset.image_size) ? "the data set's" : "the model's");
    if (w.model.seq_len > 0)
        training("seq_len", fmt::format("{}", w.model.seq_len),
                 is_data_set_s(w.model.seq_len, w.dataset.seq_len) ? "the data set's"
                 : adapts                                          ? "the model's, at most 1024"
                                                                   : "the model's");
    if (!w.dataset.name.empty()) data("name", w.dataset.name, "stated");
    if (w.dataset.samples > 0) {
        const bool of_tokens =
            w.model.seq_len > 0 && w.dataset.tokens > 0.0 &&
            w.dataset.samples == static_cast<std::int64_t>(w.dataset.tokens / static_cast<double>(w.model.seq_len));
        data("samples", fmt::format("{}", w.dataset.samples),
             of_tokens ? "the data set's tokens by seq_len" : "known of this data set");
    }
    if (w.dataset.classes > 0) data("classes", fmt::format("{}", w.dataset.classes), "known of this data set");
    if (w.dataset.validation_samples > 0)
        data("validation_samples", fmt::format("{}", w.dataset.validation_samples), "known of this data set");
    return out;
}

std::uint64_t parameters_beside(const ModelSpec& model) {
    std::uint64_t sum = 0;
    for (const Layer& layer : model.layers)
        if (layer.head) sum += layer.parameters;
    return sum;
}

Value list_of(const std::vector<std::string>& sentences) {
    Value out = Value::array();
    for (const std::string& sentence : sentences) out.push(sentence);
    return out;
}

}  // namespace

std::string explain_text(const Declaration& declaration, const Workload& w) {
    std::string out = fmt::format("{}{}\n\n", w.model.name, w.model.family.empty() ? "" : ", family " + w.model.family);
    out += fmt::format("{:<6}{:<44}{:<16}{:<22}{:<22}{:>14}{:>14}\n", "", "layer", "kind", "input", "output",
                       "parameters", "MFLOP");
    std::size_t number_of = 0;
    for (const Layer& layer : w.model.layers)
        out += fmt::format("{:<6}{:<44}{:<16}{:<22}{:<22}{:>14}{:>14.3f}{}\n", number_of++, layer.name,
                           to_string(layer.kind), to_string(layer.input), to_string(layer.output), layer.parameters,
                           forward_flops(layer) / 1e6, layer.trainable || layer.parameters == 0 ? "" : "  frozen");
    // The rows add up to more than the published count where a task's head, or LoRA's adapters, stand beside it.
    const std::uint64_t beside = parameters_beside(w.model);
    const bool adapted = to_lower(trainable_of(declaration)).starts_with("lora:");
    const std::string published = beside == 0 ? ""
                                              : fmt::format("  published count, without the {} of the head{}", beside,
                                                            adapted ? " and the adapters" : "");
    out += fmt::format(
        "\nparameters            {}{}\ntrained               {}\nforward               {:.4f} GFLOP a sample\n\n",
        w.model.parameters, published, w.model.trainable_parameters, forward_flops(w.model) / 1e9);
    for (const Setting& s : settings_of(declaration, w))
        out += fmt::format("{:<28}{:<23} {}\n", s.key, s.value, s.origin);
    out += "\n";
    for (const std::string& sentence : w.assumed) out += fmt::format("assumed        {}\n", sentence);
    for (const std::string& sentence : w.warnings) out += fmt::format("warning        {}\n", sentence);
    return out;
}

Value explain_value(const Declaration& declaration, const Workload& w) {
    Value layers = Value::array();
    for (const Layer& layer : w.model.layers) {
        Value one = Value::object();
        one.set("name", layer.name);
        one.set("kind", to_string(layer.kind));
        for (const auto& [key, shape] :
             {std::pair<const char*, const Shape*>{"input", &layer.input}, {"output", &layer.output}}) {
            Value sizes = Value::array();
            for (const std::int64_t size : *shape) sizes.push(size);
            one.set(key, std::move(sizes));
        }
        one.set("parameters", layer.parameters);
        one.set("forward_flops", forward_flops(layer));
        one.set("trainable", layer.trainable);
        layers.push(std::move(one));
    }
    Value training = Value::array();
    for (const Setting& s : settings_of(declaration, w)) {
        Value one = Value::object();
        one.set("key", s.key);
        one.set("value", s.value);
        one.set("origin", s.origin);
        training.push(std::move(one));
    }
    Value out = Value::object();
    out.set("model", w.model.name);
    out.set("family", w.model.family);
    out.set("parameters", w.model.parameters);
    out.set("head_parameters", parameters_beside(w.model));
    out.set("trainable_parameters", w.model.trainable_parameters);
    out.set("forward_flops", forward_flops(w.model));
    out.set("layers", std::move(layers));
    out.set("training", std::move(training));
    out.set("assumed", list_of(w.assumed));
    out.set("warnings", list_of(w.warnings));
    return out;
}

}  // namespace dlcast
