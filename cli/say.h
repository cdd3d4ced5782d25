// SPDX-License-Identifier: GPL-2.0-or-later
// What a long-running verb tells while it works.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "cli/counted.h"

namespace dlcast {

/// Takes one line without its end.
using Say = std::function<void(const std::string&)>;

/// Says the first few lines of one kind, and how many more there were.
class FewLines {
public:
    explicit FewLines(const Say& say) : say_(say) {}
    ~FewLines() {
        if (count_ > most) say_(counted(count_ - most, "more line") + " like these");
    }
    FewLines(const FewLines&) = delete;
    FewLines& operator=(const FewLines&) = delete;
    void add(const std::string& line) {
        if (++count_ <= most) say_(line);
    }

private:
    static constexpr std::size_t most = 8;
    const Say& say_;
    std::size_t count_ = 0;
};

}  // namespace dlcast
