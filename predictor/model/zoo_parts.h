// SPDX-License-Identifier: GPL-2.0-or-later
// What the image models of the zoo are made of.
#pragma once

#include <cstdint>
#include <string>

#include "predictor/base/result.h"
#include "predictor/model/builder.h"

namespace dlcast {

/// A window of two sides, padded by half of each.
Window sided_window(std::int64_t height, std::int64_t width, std::int64_t stride = 1);

/// Convolution without bias, batch norm, activation (none where `function` is empty).
void add_conv_norm(ModelBuilder& b, const std::string& at, std::int64_t out, const Window& w,
                   const std::string& function = "relu", std::int64_t groups = 1);

/// Squeeze and excitation (Hu et al., arXiv:1709.01507): each channel weighted by what its mean and the others' say.
void add_squeeze_excitation(ModelBuilder& b, const std::string& at, std::int64_t squeezed,
                            const std::string& function = "relu", const std::string& gate = "sigmoid");

/// The multiple of `unit` nearest to `channels`, but never 10 % below it.
std::int64_t in_multiples(double channels, std::int64_t unit = 8);

/// Averages the image, classifies and compares; the model is whole then.
Result<ModelSpec> finish_classifier(ModelBuilder& b, const std::string& name, const std::string& family,
                                    std::int64_t classes, bool dropout = false);

}  // namespace dlcast
