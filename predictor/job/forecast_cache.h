// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts made before: arrays, sweeps and scripts ask for the same workload on the same GPUs again and again.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "predictor/job/verdict.h"

namespace dlcast {

/// All of a request that its forecast depends on (the owner, for the limits of accounts): not the limit the user asked
/// for, nor the array, nor what stands in admin_comment. Equal keys, equal decisions, as long as the site stays as it
/// is.
std::string forecast_key(const SubmitRequest& request);

/// The last decisions of one site state, the least recently used forgotten first. Safe from several threads at once.
class ForecastCache {
public:
    static constexpr std::size_t max_entries = 512, max_key_bytes = 2u << 20;  // about 4 MB in all

    /// Null where it is not known.
    std::shared_ptr<const Decision> find(std::string_view key);
    void insert(std::string key, std::shared_ptr<const Decision> decision);
    std::size_t size() const;

private:
    struct Entry {
        std::string key;
        std::shared_ptr<const Decision> decision;
    };
    void drop_last();

    mutable std::mutex mutex_;
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<std::string_view, std::list<Entry>::iterator> places_;
    std::size_t key_bytes_ = 0;
};

}  // namespace dlcast
