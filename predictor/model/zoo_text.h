// SPDX-License-Identifier: GPL-2.0-or-later
// Models of the Hugging Face hub, each by the config its page carries.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "predictor/base/value.h"

namespace dlcast {

struct HubModel {
    const char* name;
    Value (*config)();  // config.json, as far as it decides layers; made when it is asked for: there are hundreds
};

const std::vector<HubModel>& hub_models();

// By kind; each file holds the helpers its families need.
std::vector<HubModel> hub_encoders();
std::vector<HubModel> hub_decoders();
std::vector<HubModel> hub_llamas();
std::vector<HubModel> hub_encoder_decoders();
std::vector<HubModel> hub_vision_and_speech();

/// A config of whole numbers, and one with a member more.
Value hub_config(const char* model_type, std::initializer_list<std::pair<const char*, std::int64_t>> sizes);
Value with(Value config, const char* key, Value value);

}  // namespace dlcast
