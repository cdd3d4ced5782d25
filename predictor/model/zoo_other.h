// SPDX-License-Identifier: GPL-2.0-or-later
// Models of the zoo that neither look at an image nor have a config on a hub.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/zoo.h"

namespace dlcast {

struct OtherModel {
    std::string name;
    Result<ModelSpec> (*build)(const std::string& name, const BuildOptions& options, std::vector<std::string>& assumed);
};
const std::vector<OtherModel>& other_models();

}  // namespace dlcast
