// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo_pyramid.h"

#include <fmt/format.h>

#include "predictor/model/zoo_parts.h"

namespace dlcast {

std::vector<Shape> add_pyramid(ModelBuilder& b, const std::vector<Shape>& stages, std::size_t first, std::int64_t width,
                               bool norm) {
    const auto conv = [&](const std::string& at, const Window& w) {
        if (norm)
            add_conv_norm(b, at, width, w, "");
        else
            b.conv(at, width, w, true);
    };
    std::vector<Shape> out;
    for (std::size_t i = stages.size(); i-- > first;) {
        b.continue_from(stages[i]);
        conv(fmt::format("fpn.inner{}", i), window(1));
        if (i + 1 < stages.size()) b.add(fmt::format("fpn.add{}", i));
        conv(fmt::format("fpn.layer{}", i), window(3, 1, 1));
        out.insert(out.begin(), b.shape());
    }
    return out;
}

void add_coarser_levels(ModelBuilder& b, std::vector<Shape>& levels, const Shape& source, std::int64_t width,
                        std::size_t count) {
    b.continue_from(source);
    for (std::size_t i = 0; i < count && !b.failed(); ++i) {
        b.conv(fmt::format("fpn.p{}", levels.size() + 3), width, window(3, 2, 1), true);
        levels.push_back(b.shape());
    }
}

void add_shared_head(ModelBuilder& b, const std::vector<Shape>& levels,
                     const std::function<void(const std::string& level)>& head) {
    for (std::size_t level = 0; level < levels.size() && !b.failed(); ++level) {
        b.continue_from(levels[level]);
        const std::size_t first = b.size();
        head(fmt::format(".p{}", level + 3));
        if (level > 0 && !b.failed()) b.share_from(first);
    }
}

}  // namespace dlcast
