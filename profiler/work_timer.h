// SPDX-License-Identifier: GPL-2.0-or-later
// Seconds a device is busy with a piece of work.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "predictor/samples/timing_sample.h"

namespace dlcast {

class WorkTimer {
public:
    virtual ~WorkTimer() = default;
    /// Seconds the device is busy with what `work` asks it for; waits for its end. Throws where the device fails.
    virtual double seconds(const std::function<void()>& work) = 0;
    virtual SampleClock clock() const = 0;
    virtual std::string name() const = 0;  // "host", "events", "cupti"
};

/// The host's clock around work that the host itself does.
std::unique_ptr<WorkTimer> make_host_timer();

}  // namespace dlcast
