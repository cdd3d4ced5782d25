// SPDX-License-Identifier: GPL-2.0-or-later
// gpus.toml to catalog entries: units in keys, every figure within what hardware can be.
#include <fmt/format.h>

#include <set>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/toml.h"
#include "predictor/device/catalog.h"
#include "predictor/device/cluster.h"

namespace dlcast {
namespace {

constexpr double mega = 1e6, giga = 1e9, tera = 1e12;
constexpr double mebi = 1 << 20, gibi = 1 << 30;

MigLayout read_mig(const Value& value, const std::string& source, std::vector<std::string>& faults) {
    ObjectReader r(value, source, "mig");
    MigLayout out;
    out.memory_slices = static_cast<int>(r.integer("memory_slices", 1, 8).value_or(0));
    for (const auto sms : r.integers("sms", 0, 1024).value_or(std::vector<std::int64_t>{}))
        out.sms.push_back(static_cast<int>(sms));
    r.require("memory_slices", "add memory_slices = 8");
    r.require("sms", "add the SMs of 1g, 2g, ... profiles, 0 where there is none");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

// Peak rates are for dense products; the largest product of this decade stays below 1e5 TFLOPS.
double rate(ObjectReader& r, std::string_view key) { return r.number(key, 0.0, 1e5).value_or(0.0) * tera; }

CatalogEntry read_entry(const Value& value, const std::string& source, std::vector<std::string>& faults) {
    const Value* name = value.find("name");
    ObjectReader r(value, source, name && name->is_string() ? fmt::format("gpu {}", name->as_string()) : "gpu");
    CatalogEntry out;
    Device& d = out.device;
    d.name = r.string("name").value_or("");
    d.product = r.string("product").value_or(d.name);
    out.aliases = r.strings("aliases").value_or(std::vector<std::string>{});
    out.source = r.string("source").value_or("");
    const std::vector<std::string> vendors{"nvidia", "amd", "intel", "cpu"};
    if (const auto vendor = r.choice("vendor", vendors)) d.vendor = vendors[*vendor];
    d.architecture = to_lower(r.string("architecture").value_or(""));
    d.compute_capability = r.number("compute_capability", 0.0, 99.0).value_or(0.0);
    d.year = static_cast<int>(r.integer("year", 2006, 2100).value_or(0));
    d.sm_count = static_cast<int>(r.integer("sm_count", 1, 4096).value_or(0));
    d.boost_clock_Hz = r.number("boost_clock_MHz", 100, 10'000).value_or(0.0) * mega;
    const double ecc_overhead = r.number("ecc_overhead", 0.0, 0.5).value_or(0.0);
    d.memory_bytes = r.number("memory_GiB", 0.5, 65'536).value_or(0.0) * gibi * (1.0 - ecc_overhead);
    out.memory_type = r.string("memory_type").value_or("");
    d.memory_bandwidth_Bps = r.number("memory_bandwidth_GBps", 1, 1e6).value_or(0.0) * giga;
    d.l2_bytes = r.number("l2_MiB", 0.01, 65'536).value_or(0.0) * mebi;
    d.tdp_w = r.number("tdp_w", 1, 20'000).value_or(0.0);
    d.fp32_flops_per_s = rate(r, "fp32_tflops");
    d.fp32_matrix_flops_per_s = rate(r, "fp32_matrix_tflops");
    d.tf32_flops_per_s = rate(r, "tf32_tflops");
    d.fp16_flops_per_s = rate(r, "fp16_tflops");
    d.bf16_flops_per_s = rate(r, "bf16_tflops");
    d.fp8_flops_per_s = rate(r, "fp8_tflops");
    d.link = to_lower(r.string("link").value_or("pcie4"));
    if (!d.link.empty() && !link_named(d.link))
        r.fail("link", fmt::format("link \"{}\" is unknown; known: {}", d.link, fmt::join(link_names(), ", ")));
    if (const Value* mig = r.value("mig")) out.mig = read_mig(*mig, source, faults);

    r.require("name", "add name = \"A100-SXM4-80GB\"");
    if (squeeze(d.name).empty() && r.has("name")) r.fail("name", "a name needs letters or digits");
    r.require("source", "name the document the figures come from");
    r.require("vendor", "add vendor = \"nvidia\"");
    r.require("architecture", "add architecture = \"ampere\"");
    for (const char* key :
         {"sm_count", "boost_clock_MHz", "memory_GiB", "memory_bandwidth_GBps", "l2_MiB", "fp32_tflops"})
        r.require(key, "take it from the vendor's data sheet");
    // A CPU's rate is measured as its power leaves it.
    if (d.vendor != "cpu") r.require("tdp_w", "take it from the vendor's data sheet");
    if (r.has("fp32_tflops") && d.fp32_flops_per_s <= 0.0) r.fail("fp32_tflops", "fp32_tflops should be positive");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

std::vector<CatalogEntry> read_entries(const Value& root, const std::string& source, std::vector<std::string>& faults) {
    ObjectReader r(root, source, "GPU file");
    std::vector<CatalogEntry> out;
    std::set<std::string> seen;
    if (const Value* list = r.value("gpu")) {
        if (!list->is_array()) r.fail("gpu", "gpu should be a list; write [[gpu]]");
        if (list->is_array())
            for (const Value& value : list->as_array()) {
                out.push_back(read_entry(value, source, faults));
                const std::string& name = out.back().device.name;
                if (!name.empty() && !seen.insert(squeeze(name)).second)
                    faults.push_back(at_place(source, value.at, fmt::format("gpu {} stands twice; keep one", name)));
            }
    }
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

}  // namespace

Checked<DeviceCatalog> DeviceCatalog::check(std::string_view text, const std::string& source) {
    Checked<DeviceCatalog> out;
    const auto root = parse_toml(text, source);
    if (!root) {
        out.faults.push_back(root.error().message);
        return out;
    }
    for (CatalogEntry& entry : read_entries(*root, source, out.faults)) out.value.add(std::move(entry));
    return out;
}

Result<DeviceCatalog> DeviceCatalog::parse(std::string_view text, const std::string& source) {
    return result_of(check(text, source));
}

}  // namespace dlcast
