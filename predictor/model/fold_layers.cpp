// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/fold_layers.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "predictor/base/json.h"

namespace dlcast {
namespace {

constexpr std::size_t longest_run = 400;  // layers of one block

// How often the run of `length` at `start` stands behind itself.
std::size_t count_repeats(const std::vector<int>& ids, std::size_t start, std::size_t length) {
    std::size_t equal = 0;
    while (start + length + equal < ids.size() && ids[start + equal] == ids[start + length + equal]) ++equal;
    return 1 + equal / length;
}

}  // namespace

Value::Array fold_layers(Value::Array layers) {
    std::vector<int> ids;
    std::unordered_map<std::string, int> known;
    for (const Value& layer : layers)
        ids.push_back(known.emplace(write_json(layer), static_cast<int>(known.size())).first->second);
    Value::Array out;
    for (std::size_t i = 0; i < layers.size();) {
        std::size_t best_length = 1, best_count = 1, best_saved = 0;
        for (std::size_t length = 1; length <= std::min(longest_run, (layers.size() - i) / 2); ++length) {
            if (ids[i] != ids[i + length]) continue;
            const std::size_t count = count_repeats(ids, i, length);
            if (const std::size_t saved = (count - 1) * length; saved > best_saved)
                best_saved = saved, best_length = length, best_count = count;
        }
        const auto first = layers.begin() + static_cast<std::ptrdiff_t>(i);
        if (best_count == 1) {
            out.push_back(std::move(*first));
            ++i;
            continue;
        }
        Value group = Value::object();
        if (best_length == 1) {
            group = std::move(*first);
            group.set("repeat", static_cast<std::int64_t>(best_count));
        } else {
            group.set("repeat", static_cast<std::int64_t>(best_count));
            group.set("layers",
                      Value(Value::Array(std::make_move_iterator(first),
                                         std::make_move_iterator(first + static_cast<std::ptrdiff_t>(best_length)))));
        }
        out.push_back(std::move(group));
        i += best_length * best_count;
    }
    return out;
}

}  // namespace dlcast
