// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/base/deadline.h"

#include <time.h>

namespace dlcast {
namespace {

constexpr std::chrono::nanoseconds never = std::chrono::nanoseconds::max();
thread_local std::chrono::nanoseconds end = never;

std::chrono::nanoseconds thread_cpu_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

Deadline::Deadline(std::chrono::nanoseconds allowed) : outer_(end) { end = thread_cpu_time() + allowed; }
Deadline::~Deadline() { end = outer_; }

bool Deadline::passed() { return end != never && thread_cpu_time() > end; }

}  // namespace dlcast
