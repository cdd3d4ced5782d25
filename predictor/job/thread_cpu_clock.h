// SPDX-License-Identifier: GPL-2.0-or-later
// The time this thread has computed. A deadline on it holds us to account, not the host: on a busy controller a
// forecast that cost a millisecond is not given up because the thread had to wait for a processor.
#pragma once

#include <time.h>

#include <chrono>

namespace dlcast {

inline std::chrono::nanoseconds thread_cpu_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace dlcast
