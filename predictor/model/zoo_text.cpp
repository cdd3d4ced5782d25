// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes: the config.json of each model's page on huggingface.co.
#include "predictor/model/zoo_text.h"

namespace dlcast {

Value hub_config(const char* model_type, std::initializer_list<std::pair<const char*, std::int64_t>> sizes) {
    Value out = Value::object();
    out.set("model_type", model_type);
    for (const auto& [key, size] : sizes) out.set(key, size);
    return out;
}

Value with(Value config, const char* key, Value value) {
    config.set(key, std::move(value));
    return config;
}

const std::vector<HubModel>& hub_models() {
    static const std::vector<HubModel> all = [] {
        std::vector<HubModel> models;
        for (const auto& more :
             {hub_encoders(), hub_decoders(), hub_llamas(), hub_encoder_decoders(), hub_vision_and_speech()})
            models.insert(models.end(), more.begin(), more.end());
        return models;
    }();
    return all;
}

}  // namespace dlcast
