// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/group_index.h"

#include "predictor/base/text.h"

namespace dlcast {

GroupIndex::GroupIndex(const std::vector<NamedGroup>& groups) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
        auto& names = by_name_[groups[i].session ? 1 : 0];
        names[squeeze(groups[i].gpu)] = static_cast<std::int32_t>(i);
        names.try_emplace(squeeze(groups[i].product), static_cast<std::int32_t>(i));
    }
    for (auto& names : by_name_) names.erase("");
}

std::int32_t GroupIndex::find(const Device& device, bool session) const {
    const auto& names = by_name_[session ? 1 : 0];
    for (const std::string* name : {&device.name, &device.product}) {
        if (const auto found = names.find(squeeze(*name)); found != names.end()) return found->second;
    }
    return -1;
}

std::int32_t GroupIndex::find(const Device& device, Clock clock) const {
    if (device.is_slice) return -1;
    const std::int32_t own = find(device, clock == Clock::session);
    return own < 0 && clock == Clock::kernel ? find(device, true) : own;
}

}  // namespace dlcast
