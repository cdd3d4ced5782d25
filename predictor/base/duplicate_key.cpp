// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/duplicate_key.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>

namespace dlcast {
namespace {

constexpr std::size_t few = 12;  // keys that are sooner compared than hashed

// One of 64 classes that equal keys share; of few keys most have one of their own.
unsigned class_of(const std::string& key) {
    if (key.empty()) return 0;
    return (static_cast<unsigned char>(key.front()) * 7U + static_cast<unsigned char>(key.back()) + key.size()) % 64;
}

const Value::Member* compare_all(const Value::Object& object) {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < object.size(); ++i) {
        const std::uint64_t its = std::uint64_t{1} << class_of(object[i].key);
        for (std::size_t j = 0; (seen & its) && j < i; ++j)
            if (object[i].key == object[j].key) return &object[i];
        seen |= its;
    }
    return nullptr;
}

const Value::Member* sort_keys(const Value::Object& object) {
    std::vector<std::uint32_t> order(object.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return object[a].key < object[b].key; });
    const auto same = std::adjacent_find(
        order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return object[a].key == object[b].key; });
    return same == order.end() ? nullptr : &object[*std::next(same)];
}

}  // namespace

const Value::Member* duplicate_key(const Value::Object& object) {
    if (object.size() <= few) return compare_all(object);
    // Open addressing; 0 is an empty slot, else the number of a member, counted from 1.
    std::vector<std::uint32_t> slots(std::bit_ceil(2 * object.size()), 0);
    const std::size_t mask = slots.size() - 1;
    std::size_t collisions = 0;
    for (std::size_t i = 0; i < object.size(); ++i) {
        std::size_t slot = std::hash<std::string>{}(object[i].key) & mask;
        for (; slots[slot] != 0; slot = (slot + 1) & mask) {
            if (object[slots[slot] - 1].key == object[i].key) return &object[i];
            if (++collisions > 4 * object.size()) return sort_keys(object);  // keys made to collide
        }
        slots[slot] = static_cast<std::uint32_t>(i + 1);
    }
    return nullptr;
}

}  // namespace dlcast
