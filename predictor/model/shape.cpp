// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/shape.h"

#include <fmt/format.h>

namespace dlcast {

double elements(const Shape& shape) {
    double product = 1.0;
    for (const std::int64_t dimension : shape) product *= static_cast<double>(dimension);
    return product;
}

double rows_of(const Shape& shape) {
    return shape.empty() || shape.back() == 0 ? 1.0 : elements(shape) / static_cast<double>(shape.back());
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace dlcast
