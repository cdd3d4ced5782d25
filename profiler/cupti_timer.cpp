// SPDX-License-Identifier: GPL-2.0-or-later
// CUPTI's activity records: each kernel, copy and fill with its begin and end on the device. A record carries the
// correlation id of the call that launched it; external correlation records say which piece of work that call was made
// for. Source: NVIDIA, CUPTI documentation, "Activity API" and "External Correlation".
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "profiler/busy_time.h"
#include "profiler/gpu_timer.h"

namespace dlcast {
namespace {

constexpr CUpti_ExternalCorrelationKind our_kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
constexpr CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,    CUPTI_ACTIVITY_KIND_MEMCPY,  CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};

std::string error_text(CUptiResult code) {
    const char* text = nullptr;
    cuptiGetResultString(code, &text);
    return text == nullptr ? "unknown error" : text;
}

/// What the buffers held since it was last taken. CUPTI fills them from a thread of its own.
struct Records {
    std::mutex lock;
    std::unordered_map<std::uint32_t, Interval> activity;   // by correlation id
    std::unordered_map<std::uint32_t, std::uint64_t> work;  // correlation id to ours
    std::size_t dropped = 0;
};

Records& records() {
    static auto* out = new Records;  // CUPTI may still call back while the process ends
    return *out;
}

template <typename Activity>
void keep(const CUpti_Activity* record) {
    const auto* a = reinterpret_cast<const Activity*>(record);
    records().activity[a->correlationId] = {a->start, a->end};
}

void keep_record(const CUpti_Activity* record) {
    switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return keep<DLCAST_CUPTI_KERNEL>(record);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return keep<DLCAST_CUPTI_MEMCPY>(record);
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return keep<DLCAST_CUPTI_MEMSET>(record);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
            const auto* e = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
            if (e->externalKind == our_kind) records().work[e->correlationId] = e->externalId;
            return;
        }
        default:
            return;
    }
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
    constexpr std::size_t bytes = std::size_t{8} << 20;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, bytes));
    *size = *buffer == nullptr ? 0 : bytes;
    *most_records = 0;  // as many as fit
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                               std::size_t valid) {
    {
        const std::lock_guard held(records().lock);
        CUpti_Activity* record = nullptr;
        while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) keep_record(record);
        std::size_t dropped = 0;
        if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) records().dropped += dropped;
    }
    std::free(buffer);
}

class CuptiTimer final : public WorkTimer {
public:
    ~CuptiTimer() override {
        for (const CUpti_ActivityKind kind : kinds) cuptiActivityDisable(kind);
    }

    double seconds(const std::function<void()>& work) override {
        cuptiActivityPushExternalCorrelationId(our_kind, ++id_);
        work();
        std::uint64_t popped = 0;
        cuptiActivityPopExternalCorrelationId(our_kind, &popped);
        if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess)
            throw std::runtime_error(cudaGetErrorString(code));
        cuptiActivityFlushAll(0);
        return take();
    }
    SampleClock clock() const override { return SampleClock::kernel; }
    std::string name() const override { return "cupti"; }

private:
    double take() {
        Records& r = records();
        const std::lock_guard held(r.lock);
        std::vector<Interval> ours;
        for (const auto& [correlation, interval] : r.activity)
            if (const auto found = r.work.find(correlation); found != r.work.end() && found->second == id_)
                ours.push_back(interval);
        r.activity.clear();
        r.work.clear();
        if (r.dropped > 0) throw std::runtime_error(fmt::format("CUPTI lost {} records", r.dropped));
        return busy_s(std::move(ours));
    }

    std::uint64_t id_ = 0;
};

}  // namespace

Result<std::unique_ptr<WorkTimer>> make_cupti_timer() {
    CUptiResult code = cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    for (const CUpti_ActivityKind kind : kinds)
        if (code == CUPTI_SUCCESS) code = cuptiActivityEnable(kind);
    if (code == CUPTI_SUCCESS) return std::unique_ptr<WorkTimer>(std::make_unique<CuptiTimer>());
    return unavailable(
        fmt::format("CUPTI: {}; kernels are not recorded for this user or on this machine", error_text(code)));
}

}  // namespace dlcast
