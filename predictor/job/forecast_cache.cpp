// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/forecast_cache.h"

#include <array>
#include <utility>

namespace dlcast {

std::string forecast_key(const SubmitRequest& r) {
    const std::array texts{&r.partition,     &r.features,      &r.account,         &r.qos,    &r.tres_per_job,
                           &r.tres_per_node, &r.tres_per_task, &r.tres_per_socket, &r.payload};
    const std::array<std::int64_t, 15> numbers{r.min_nodes,
                                               r.max_nodes,
                                               r.num_tasks,
                                               r.ntasks_per_node,
                                               r.ntasks_per_socket,
                                               r.ntasks_per_gpu,
                                               r.sockets_per_node,
                                               r.exclusive,
                                               r.user_id,
                                               r.min_cpus,
                                               r.cpus_per_task,
                                               r.min_cpus_per_node,
                                               r.memory_per_node_MiB,
                                               r.memory_per_cpu_MiB,
                                               r.names_nodes};
    std::size_t size = sizeof numbers;
    for (const std::string* text : texts) size += sizeof size + text->size();
    std::string key;
    key.reserve(size);
    key.append(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
    for (const std::string* text : texts) {
        // Lengths in front, so that no text runs into the next one.
        const std::size_t length = text->size();
        key.append(reinterpret_cast<const char*>(&length), sizeof length);
        key += *text;
    }
    return key;
}

std::shared_ptr<const Decision> ForecastCache::find(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->decision;
}

void ForecastCache::insert(std::string key, std::shared_ptr<const Decision> decision) {
    if (key.size() > max_key_bytes) return;
    const std::lock_guard lock(mutex_);
    if (places_.contains(key)) return;  // another thread was faster
    while (!entries_.empty() && (entries_.size() >= max_entries || key_bytes_ + key.size() > max_key_bytes))
        drop_last();
    key_bytes_ += key.size();
    entries_.push_front({std::move(key), std::move(decision)});
    places_.emplace(entries_.front().key, entries_.begin());
}

void ForecastCache::drop_last() {
    key_bytes_ -= entries_.back().key.size();
    places_.erase(entries_.back().key);
    entries_.pop_back();
}

std::size_t ForecastCache::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace dlcast
