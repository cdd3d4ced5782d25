// SPDX-License-Identifier: GPL-2.0-or-later
// Models of the Hugging Face hub, each by the config its page carries.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/value.h"

namespace dlcast {

struct HubModel {
    std::string name;
    Value config;  // config.json, as far as it decides layers
};

const std::vector<HubModel>& hub_models();

}  // namespace dlcast
