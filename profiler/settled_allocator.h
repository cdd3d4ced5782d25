// SPDX-License-Identifier: GPL-2.0-or-later
// The C library's allocator in the state that a training brings it to.
#pragma once

namespace dlcast {

/// From now on freed arrays of up to 32 MiB are kept for the next one of their size, until 64 MiB lie free at the end
/// of the heap, instead of going back to the system, which would hand them out as new pages (a quarter to all of the
/// time of an operator that moves memory). glibc goes over to that by itself once a program has freed an array of that
/// size, as trainings do early: M_MMAP_THRESHOLD in mallopt(3), which moves up to 4 x 1024 x 1024 x sizeof(long) bytes.
void settle_allocator();

}  // namespace dlcast
