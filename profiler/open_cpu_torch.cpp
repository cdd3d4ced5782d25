// SPDX-License-Identifier: GPL-2.0-or-later
// The CPU through LibTorch.
#include <fmt/format.h>

#include "profiler/cpu_facts.h"
#include "profiler/device_entry.h"
#include "profiler/open_device.h"
#include "profiler/repeat.h"
#include "profiler/settled_allocator.h"
#include "profiler/torch_backend.h"
#include "profiler/triad.h"

namespace dlcast {
namespace {

Result<CatalogEntry> detect(Backend& backend, double most_s) {
    const double end_s = steady_now_s() + most_s;
    const CpuFacts facts = read_cpu_facts();
    const int threads = torch_threads(facts.cpus);
    CatalogEntry out;
    Device& d = out.device;
    d.name = cpu_key(facts.model, threads);
    d.product = fmt::format("{}, {} {}", facts.model, threads, threads == 1 ? "thread" : "threads");
    d.vendor = d.architecture = "cpu";
    d.sm_count = threads;
    d.boost_clock_Hz = facts.clock_Hz;
    d.memory_bytes = facts.memory_bytes;
    d.l2_bytes = facts.last_cache_bytes;
    d.memory_bandwidth_Bps = triad_Bps(threads, facts.last_cache_bytes, most_s / 2);
    d.fp32_flops_per_s = measured_flops_per_s(backend, Precision::fp32, end_s - steady_now_s());
    out.source =
        "measured by dlcast-profile: fp32_tflops by LibTorch's products, memory_bandwidth_GBps by a triad; l2_MiB is "
        "the "
        "last cache";
    return out;
}

SampleDevice describe() {
    const CpuFacts facts = read_cpu_facts();
    const int threads = torch_threads(facts.cpus);
    return {cpu_key(facts.model, threads), threads, facts.clock_Hz, 0.0, ""};
}

}  // namespace

Result<OpenedDevice> open_cpu() {
    (void)torch_threads(read_cpu_facts().cpus);
    settle_allocator();
    auto backend = make_torch_backend(
        "cpu", make_host_timer(), describe, [] { return free_memory_bytes(); }, {}, read_cpu_facts().last_cache_bytes);
    if (!backend) return backend.error();
    return OpenedDevice{std::move(*backend), detect};
}

}  // namespace dlcast
