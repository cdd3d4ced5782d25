// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/settled_allocator.h"

#include <cstdlib>

namespace dlcast {

void settle_allocator() {
    constexpr std::size_t largest_that_counts = std::size_t{32} << 20, page_bytes = 4096;
    // volatile: a compiler may leave out an array that nobody uses.
    void* volatile array = std::malloc(largest_that_counts - 4 * page_bytes);  // its chunk is a page larger
    std::free(array);
}

}  // namespace dlcast
