// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of detectors: the feature pyramid and heads that all of its levels share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "predictor/model/builder.h"

namespace dlcast {

/// Top-down pyramid (Lin et al., arXiv:1612.03144) over stages[first] and those behind it; the shapes of its levels,
/// finest first. `norm`: batch norm in the place of biases.
std::vector<Shape> add_pyramid(ModelBuilder& b, const std::vector<Shape>& stages, std::size_t first, std::int64_t width,
                               bool norm = false);
/// Coarser levels by strided convolutions, from `source` and then from each other.
void add_coarser_levels(ModelBuilder& b, std::vector<Shape>& levels, const Shape& source, std::int64_t width,
                        std::size_t count);
/// A head on every level; all levels share its weights.
void add_shared_head(ModelBuilder& b, const std::vector<Shape>& levels,
                     const std::function<void(const std::string& level)>& head);

}  // namespace dlcast
