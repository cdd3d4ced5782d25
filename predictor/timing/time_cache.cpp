// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/time_cache.h"

#include <algorithm>
#include <mutex>

namespace dlcast {

std::size_t TimeCache::Hash::operator()(const Key& key) const {
    return hash_of(key.op) ^ (std::size_t{key.device} * 3 + static_cast<std::size_t>(key.clock)) * 0x9e3779b97f4a7c15U;
}

std::uint32_t TimeCache::device_index(const Device& device) const {
    return static_cast<std::uint32_t>(std::find(devices_.begin(), devices_.end(), device) - devices_.begin());
}

std::vector<std::size_t> TimeCache::find(std::span<const OperatorQuery> queries, std::span<OperatorTime> times) const {
    std::vector<std::size_t> missing;
    const std::shared_lock lock(mutex_);
    const Device* last = nullptr;
    std::uint32_t index = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const OperatorQuery& q = queries[i];
        if (q.device != last) index = device_index(*q.device);
        last = q.device;
        const auto found = times_.find({*q.op, index, q.clock});
        if (found == times_.end()) {
            missing.push_back(i);
        } else {
            times[i] = found->second;
        }
    }
    return missing;
}

void TimeCache::insert(std::span<const OperatorQuery> queries, std::span<const OperatorTime> times,
                       std::span<const std::size_t> indices) {
    const std::unique_lock lock(mutex_);
    for (const std::size_t i : indices) {
        const OperatorQuery& q = queries[i];
        std::uint32_t index = device_index(*q.device);
        if (times_.size() >= max_entries || (index == devices_.size() && index >= max_devices)) {
            times_.clear();
            devices_.clear();
            index = 0;
        }
        if (index == devices_.size()) devices_.push_back(*q.device);
        times_.insert_or_assign({*q.op, index, q.clock}, times[i]);
    }
}

std::size_t TimeCache::size() const {
    const std::shared_lock lock(mutex_);
    return times_.size();
}

}  // namespace dlcast
