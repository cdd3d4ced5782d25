// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/repeat.h"
#include "profiler/work_timer.h"

namespace dlcast {
namespace {

class HostTimer final : public WorkTimer {
public:
    double seconds(const std::function<void()>& work) override {
        const double begin_s = steady_now_s();
        work();
        return steady_now_s() - begin_s;
    }
    SampleClock clock() const override { return SampleClock::host; }
    std::string name() const override { return "host"; }
};

}  // namespace

std::unique_ptr<WorkTimer> make_host_timer() { return std::make_unique<HostTimer>(); }

}  // namespace dlcast
