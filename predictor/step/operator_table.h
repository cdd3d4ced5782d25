// SPDX-License-Identifier: GPL-2.0-or-later
// The distinct operators of many steps on many devices, so that each is predicted once, all in one call.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "predictor/timing/layer_time_model.h"

namespace dlcast {

class OperatorTable {
public:
    /// The place of this operator on this device; the device must outlive the table. Devices are told apart by address.
    std::size_t add(const Operator& op, const Device& device);
    /// One time for each place.
    Result<std::vector<OperatorTime>> times(const LayerTimeModel& model) const;
    std::size_t size() const { return operators_.size(); }

private:
    struct Entry {
        Operator op;
        const Device* device;
        bool operator==(const Entry&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Entry& entry) const;
    };
    std::unordered_map<Entry, std::size_t, Hash> places_;
    std::vector<const Entry*> operators_;  // keys of places_, which stay where they are
};

}  // namespace dlcast
