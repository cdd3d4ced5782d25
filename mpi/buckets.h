// SPDX-License-Identifier: GPL-2.0-or-later
// Gradients in the buckets that travel together.
#pragma once

#include <cstdint>
#include <vector>

namespace dlcast {

struct Bucket {
    std::vector<std::size_t> gradients;  // numbers, in the order of backward
    std::int64_t elements = 0;
};

/// Last gradient first; a bucket is closed as soon as it is full. The first is small, so that the exchange begins
/// early. Source: PyTorch DistributedDataParallel: 1 MiB, then 25 MiB.
std::vector<Bucket> make_buckets(const std::vector<std::int64_t>& gradient_sizes, std::int64_t first_elements,
                                 std::int64_t other_elements);

}  // namespace dlcast
