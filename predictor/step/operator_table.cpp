// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/operator_table.h"

#include <cstdint>

namespace dlcast {

std::size_t OperatorTable::Hash::operator()(const Entry& entry) const {
    return hash_of(entry.op) ^ reinterpret_cast<std::uintptr_t>(entry.device) * 0x9e3779b97f4a7c15U;
}

std::size_t OperatorTable::add(const Operator& op, const Device& device) {
    const auto [place, is_new] = places_.try_emplace(Entry{op, &device}, operators_.size());
    if (is_new) operators_.push_back(&place->first);
    return place->second;
}

Result<std::vector<OperatorTime>> OperatorTable::times(const LayerTimeModel& model) const {
    std::vector<OperatorQuery> queries;
    queries.reserve(operators_.size());
    for (const Entry* entry : operators_) queries.push_back({&entry->op, entry->device});
    auto times = model.times(queries);
    if (times && times->size() != queries.size())
        return unavailable("the layer-time model answered with another number of times");
    return times;
}

}  // namespace dlcast
