// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/operator_table.h"

#include <cstdint>

namespace dlcast {

std::size_t OperatorTable::Hash::operator()(const Entry& entry) const {
    const Operator& op = entry.op;
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(entry.device);
    const auto mix = [&hash](auto value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3U;
    };  // FNV-1a by words
    mix(op.kind), mix(op.function), mix(op.phase), mix(op.precision), mix(op.optimizer);
    for (const std::int64_t size :
         {op.batch, op.m, op.k, op.n, op.in_ch, op.out_ch, op.in_h, op.in_w, op.out_h, op.out_w, op.kernel_h,
          op.kernel_w, op.stride, op.groups, op.rows, op.cols, op.vocab})
        mix(size);
    mix(op.bias), mix(op.channels_last);
    return hash;
}

std::size_t OperatorTable::add(const Operator& op, const Device& device) {
    const auto [place, is_new] = places_.try_emplace(Entry{op, &device}, operators_.size());
    if (is_new) operators_.push_back(place->first);
    return place->second;
}

Result<std::vector<OperatorTime>> OperatorTable::times(const LayerTimeModel& model) const {
    std::vector<OperatorQuery> queries;
    queries.reserve(operators_.size());
    for (const Entry& entry : operators_) queries.push_back({&entry.op, entry.device});
    auto times = model.times(queries);
    if (times && times->size() != queries.size())
        return unavailable("the layer-time model answered with another number of times");
    return times;
}

}  // namespace dlcast
