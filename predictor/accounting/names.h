// SPDX-License-Identifier: GPL-2.0-or-later
// Accounts, users and models of a million rows: each name is kept once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dlcast {

/// Number 0 is the empty name.
class Names {
public:
    using Id = std::uint32_t;

    Names() { id(""); }
    Id id(std::string_view name) {
        if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
        const Id next = static_cast<Id>(names_.size());
        names_.emplace_back(name);
        ids_.emplace(std::string(name), next);
        return next;
    }
    const std::string& at(Id id) const { return names_[id]; }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::vector<std::string> names_;
    std::unordered_map<std::string, Id, Hash, std::equal_to<>> ids_;
};

}  // namespace dlcast
