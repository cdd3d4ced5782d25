// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/constraint.h"

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr int most_depth = 32;

/// any := all ('|' all)*; all := one (('&' | ',') one)*; one := '(' any ')' | '[' any ']' | name ['*' count]
class Reader {
public:
    Reader(std::string_view text, const std::vector<std::string>& features) : text_(text), features_(features) {}
    bool holds() {
        const bool result = any(0);
        return result && !broken_ && rest() == '\0';
    }

private:
    char rest() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (rest() != c) return false;
        ++at_;
        return true;
    }
    bool any(int depth) {
        bool out = all(depth);
        while (take('|')) out = all(depth) || out;
        return out;
    }
    bool all(int depth) {
        bool out = one(depth);
        while (take('&') || take(',')) out = one(depth) && out;
        return out;
    }
    bool one(int depth) {
        for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'[', ']'}}) {
            if (!take(open)) continue;
            const bool out = depth < most_depth && any(depth + 1);
            if (depth >= most_depth || !take(close)) broken_ = true;
            return skip_count(out);
        }
        rest();
        const std::size_t start = at_;
        while (at_ < text_.size() && std::string_view("|&,()[]* ").find(text_[at_]) == std::string_view::npos) ++at_;
        const std::string name = to_lower(text_.substr(start, at_ - start));
        if (name.empty()) broken_ = true;
        return skip_count(std::any_of(features_.begin(), features_.end(),
                                      [&](const std::string& feature) { return to_lower(feature) == name; }));
    }
    bool skip_count(bool result) {
        if (take('*'))
            while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        return result;
    }

    std::string_view text_;
    const std::vector<std::string>& features_;
    std::size_t at_ = 0;
    bool broken_ = false;
};

}  // namespace

bool satisfies(std::string_view constraint, const std::vector<std::string>& features) {
    const std::string_view text = trim(constraint);
    return text.empty() || Reader(text, features).holds();
}

}  // namespace dlcast
