// SPDX-License-Identifier: GPL-2.0-or-later
// How long this thread may compute on one submission. The code that turns a user's file into layers polls it, so that a
// model made to be expensive is given up in time and not only found late.
#pragma once

#include <chrono>

namespace dlcast {

/// Stands for as long as the object lives, on its thread alone; without one nothing ever passes. It counts computing
/// time: on a busy host a forecast that costs a millisecond is not given up because the thread had to wait for a
/// processor.
class Deadline {
public:
    explicit Deadline(std::chrono::nanoseconds allowed);
    ~Deadline();
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;

    static bool passed();

private:
    std::chrono::nanoseconds outer_;  // the end that stood before
};

}  // namespace dlcast
