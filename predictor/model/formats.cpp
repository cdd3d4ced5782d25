// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/formats.h"

#include "predictor/base/reader.h"
#include "predictor/model/dataset.h"
#include "predictor/model/hf_config.h"
#include "predictor/model/keras.h"
#include "predictor/model/layer_list.h"
#include "predictor/model/training_file.h"

namespace dlcast {
namespace {

Value around(Value model) {
    Value out = Value::object();
    out.set("model", std::move(model));
    return out;
}

// A written-out model at the top of its file, data set and training beside its layers.
Value lift(Value tree) {
    Value out = around(Value::object());
    out.find("model")->at = tree.at;
    for (Value::Member& member : tree.as_object()) {
        const bool outside = member.key == "dataset" || member.key == "training";
        (outside ? out : *out.find("model")).as_object().push_back(std::move(member));
    }
    return out;
}

// Whether `value` tells a data set, of a tool's own file: others have keys of this name for other things.
bool is_dataset(const Value& value) {
    return value.is_object() || (value.is_string() && find_dataset(value.as_string()));
}

// A model as another tool has it, with data set and training written beside its own keys.
struct Parts {
    Value model, outside;
};
Parts part(Value tree) {
    Parts parts{Value::object(), Value::object()};
    parts.model.at = tree.at;
    for (Value::Member& member : tree.as_object()) {
        const bool outside = (member.key == "training" && member.value.is_object()) ||
                             (member.key == "dataset" && is_dataset(member.value));
        (outside ? parts.outside : parts.model).as_object().push_back(std::move(member));
    }
    return parts;
}

// { "model": .., "dataset": .., "training": .. }: any form may stand inside.
Result<Value> bring_parts(Value tree, const std::string& source, const OpenSizes& sizes) {
    ObjectReader r(tree, source, "the file");
    for (const char* key : {"model", "dataset", "training"}) r.value(key);
    if (auto s = r.finish(); !s) return s.error();
    if (Value* training = tree.find("training"); training && is_foreign_training(*training)) {
        auto own = to_dlcast_training(*training, source);
        if (!own) return own.error();
        *training = std::move(*own);
    }
    Value* model = tree.find("model");
    const Value* layers = model->find("layers");
    if (!model->is_object() || (layers && layers->is_array())) return tree;
    auto inner = to_dlcast_json(std::move(*model), source, with_training_sizes(sizes, tree.find("training")));
    if (!inner) return inner.error();
    *model = std::move(*inner->find("model"));
    return tree;
}

}  // namespace

Result<Value> to_dlcast_json(Value tree, const std::string& source, const OpenSizes& sizes) {
    if (tree.find("model")) return bring_parts(std::move(tree), source, sizes);
    // TensorFlow.js wraps what Keras writes, once or twice.
    for (const char* wrapper : {"modelTopology", "model_config"})
        if (Value* inside = tree.find(wrapper); inside && inside->is_object()) {
            Value unwrapped = std::move(*inside);
            tree = std::move(unwrapped);
        }
    const bool is_config = tree.find("model_type") != nullptr;
    if ((is_config || is_layer_list(tree)) && (tree.find("training") || tree.find("dataset"))) {
        Parts parts = part(std::move(tree));
        tree = std::move(parts.model);
        if (!parts.outside.as_object().empty()) {
            parts.outside.set("model", std::move(tree));
            return bring_parts(std::move(parts.outside), source, sizes);
        }
    }
    if (is_config) return around(keep_hf_keys(tree));
    // Diffusers' configs name a class.
    if (const Value* name = tree.find("_class_name"); name && name->is_string()) {
        Value kept = keep_hf_keys(tree);
        kept.set("model_type", name->as_string()).at = name->at;
        return around(std::move(kept));
    }
    const bool keras = is_keras(tree);
    if (keras || is_layer_list(tree)) {
        auto written =
            keras ? keras_to_written(std::move(tree), source, sizes) : layer_list_to_written(std::move(tree), source);
        if (!written) return written.error();
        return around(std::move(*written));
    }
    if (const Value* layers = tree.find("layers"); layers && layers->is_array()) return lift(std::move(tree));
    return invalid_argument(
        at_place(source, tree.at,
                 "no known form of model file; expected an object with \"model\" or \"layers\" (dlcast), "
                 "\"model_type\" (Hugging Face config.json) or \"class_name\" (Keras)"));
}

}  // namespace dlcast
