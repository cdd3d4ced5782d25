// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/doubtful_samples.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;
using Catch::Matchers::Contains;

namespace {

struct Said {
    std::string text;
    Say say = [this](const std::string& line) { text += line + "\n"; };
};

SampledPass step(int line, double time_s, int batch = 32, double range = 1.0) {
    SampledPass out;
    out.time_s = time_s;
    out.fastest_s = time_s / range;
    out.slowest_s = time_s * range;
    out.place = fmt::format("s.jsonl:{}", line);
    out.gpu = "L40S";
    out.pass = {.model = "resnet50", .batch = batch, .pass = Pass::step};
    return out;
}

// Lines of those that stay.
std::string kept(std::vector<SampledPass> steps, Said& said) {
    SiteSamples samples;
    samples.passes = std::move(steps);
    leave_out_contradictions(samples, said.say);
    std::string out;
    for (const SampledPass& sample : samples.passes) out += sample.place.substr(8);
    return out;
}

}  // namespace

TEST_CASE("two steps of one setting that contradict each other are both left out, by name", "[refine]") {
    Said said;
    CHECK(kept({step(3, 1e-3), step(7, 10.0), step(8, 0.2, 16)}, said) == "8");
    CHECK_THAT(said.text, Contains("s.jsonl:3 (1 ms), s.jsonl:7 (10 s): 2 samples of a step of resnet50 (batch 32, "
                                   "fp32) on L40S contradict one another"));
    CHECK_THAT(said.text, Contains("Measure it again"));
}

TEST_CASE("one sample against more that agree is left out alone", "[refine]") {
    Said said;
    CHECK(kept({step(1, 0.10), step(2, 0.12), step(3, 0.9)}, said) == "12");
    CHECK_THAT(said.text, Contains("s.jsonl:3 (900 ms): 1 sample") && Contains("against 2 that agree"));
}

TEST_CASE("a factor of two is noise, and so is what each sample saw itself", "[refine]") {
    Said said;
    CHECK(kept({step(1, 0.10), step(2, 0.20)}, said) == "12");
    CHECK(kept({step(1, 0.10, 32, 3.0), step(2, 0.25, 32, 3.0)}, said) == "12");
    CHECK(kept({step(1, 0.10, 32, 3.0), step(2, 0.25)}, said).empty());  // one of them saw no such noise
}

TEST_CASE("calls faster than their device, or far off any forecast, are left out with what to check", "[refine]") {
    SiteSamples samples;
    const Device device = v100();
    samples.devices[device.name] = device;
    auto& calls = samples.calls[{device.name, OperatorGroup{OperatorFamily::linear, false, false}}];
    const auto add = [&](double time_s) {
        SampledCall call;
        call.op = linear(1024, 1024, 1024);  // 152 us at 14.13 TFLOP/s
        call.time_s = call.fastest_s = call.slowest_s = time_s;
        call.place = fmt::format("calls.jsonl:{}", calls.size() + 1);
        calls.push_back(call);
    };
    for (const double time_s : {70e-6, 80e-6, 2e-4, 30.0}) add(time_s);
    Said said;
    REQUIRE(leave_out_impossible_calls(samples, *make_analytic_model(), said.say));
    CHECK(samples.too_fast[device.name] == 1);
    REQUIRE(calls.size() == 2);
    CHECK(calls[0].place == "calls.jsonl:2");
    CHECK(calls[1].place == "calls.jsonl:3");
    CHECK_THAT(said.text, Contains("calls.jsonl:1: linear forward (m 1024, k 1024, n 1024, fp32) on V100-PCIE-32GB in "
                                   "70 us: at the peak figures of the device's entry it takes 152 us at least, and "
                                   "below 76 us it is not believed"));
    CHECK_THAT(said.text, Contains("calls.jsonl:4") && Contains("in 30 s: more than a factor of 1000 off") &&
                              Contains("peak figures of V100-PCIE-32GB in its entry of gpus.toml"));
}

TEST_CASE("where samples outrun an entry that was measured, the entry is said to be too low, and where it stands",
          "[refine]") {
    CatalogEntry entry;
    entry.device.name = "AMD-EPYC-2T";
    entry.source = "measured by dlcast-profile: fp32_tflops by LibTorch's products";
    CatalogEntry sheet = entry;
    sheet.device.name = "V100-PCIE-32GB";
    sheet.source = "data sheet";
    DeviceCatalog catalog;
    catalog.add(entry);
    catalog.add(sheet);
    SiteSamples samples;
    samples.too_fast = {{"AMD-EPYC-2T", 2}, {"V100-PCIE-32GB", 9}};
    Said said;
    say_low_entries(samples, catalog, "/etc/dlcast/site-gpus.toml", said.say);
    CHECK(said.text.empty());
    samples.too_fast["AMD-EPYC-2T"] = 3;
    say_low_entries(samples, catalog, "/etc/dlcast/site-gpus.toml", said.say);
    CHECK_THAT(said.text, Contains("3 samples of AMD-EPYC-2T are faster than its entry allows") &&
                              Contains("Take the entry out of '/etc/dlcast/site-gpus.toml'"));
}

TEST_CASE("of many lines alike the first are said, and how many more there were", "[refine]") {
    Said said;
    {
        FewLines lines(said.say);
        for (int i = 0; i < 11; ++i) lines.add(fmt::format("line {}", i));
    }
    CHECK_THAT(said.text, Contains("line 7\n3 more lines like these"));
}
