// SPDX-License-Identifier: GPL-2.0-or-later
// Which constants of a network belong to a device: the ones learnt on its own rows, where there were any.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "predictor/timing/layer_time_model.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {

class GroupIndex {
public:
    explicit GroupIndex(const std::vector<NamedGroup>& groups);
    /// By catalog key, else by product; -1 where there is none, and for a slice of a GPU. A kernel's time on a GPU that
    /// was only timed by a host's sessions takes those constants: the GPU is the same.
    std::int32_t find(const Device& device, Clock clock) const;

private:
    std::int32_t find(const Device& device, bool session) const;
    std::map<std::string, std::int32_t> by_name_[2];  // squeezed; [1]: sessions
};

}  // namespace dlcast
