// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/buckets.h"

namespace dlcast {

std::vector<Bucket> make_buckets(const std::vector<std::int64_t>& gradient_sizes, std::int64_t first_elements,
                                 std::int64_t other_elements) {
    std::vector<Bucket> out;
    Bucket open;
    for (std::size_t i = gradient_sizes.size(); i-- > 0;) {
        open.gradients.push_back(i);
        open.elements += gradient_sizes[i];
        const std::int64_t full = out.empty() ? first_elements : other_elements;
        if (open.elements < full && i > 0) continue;
        out.push_back(std::move(open));
        open = {};
    }
    return out;
}

}  // namespace dlcast
