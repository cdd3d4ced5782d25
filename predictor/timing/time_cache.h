// SPDX-License-Identifier: GPL-2.0-or-later
// Times that were predicted before: users submit the same models again and again, and each layer's time depends on
// nothing but the operator, the device and the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "predictor/timing/layer_time_model.h"

namespace dlcast {

/// Safe from several threads at once. Bounded: what it holds is forgotten when one more entry or device would pass the
/// limits (about 4 MB).
class TimeCache {
public:
    static constexpr std::size_t max_entries = 16384, max_devices = 256;

    /// Fills `times` where the answer is known; returns the indices of the queries where it is not.
    std::vector<std::size_t> find(std::span<const OperatorQuery> queries, std::span<OperatorTime> times) const;
    /// Keeps times[i] for queries[i], for the i of `indices`.
    void insert(std::span<const OperatorQuery> queries, std::span<const OperatorTime> times,
                std::span<const std::size_t> indices);
    std::size_t size() const;

private:
    struct Key {
        Operator op;
        std::uint32_t device;  // index into devices_
        Clock clock;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    // Devices are told apart by their figures: a catalog that was read again may put another one at the same address.
    std::uint32_t device_index(const Device& device) const;  // devices_.size() where it is new

    mutable std::shared_mutex mutex_;
    std::deque<Device> devices_;
    std::unordered_map<Key, OperatorTime, Hash> times_;
};

}  // namespace dlcast
