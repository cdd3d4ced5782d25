// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/gpu_table.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

#include "cli/csv.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

// Board power of the usual data-centre card of an architecture.
double usual_tdp_w(std::string_view architecture) {
    struct Entry {
        std::string_view architecture;
        double tdp_w;
    };
    constexpr std::array<Entry, 12> usual{{{"kepler", 235},
                                           {"maxwell", 250},
                                           {"pascal", 250},
                                           {"volta", 250},
                                           {"turing", 250},
                                           {"ampere", 300},
                                           {"ada", 300},
                                           {"hopper", 700},
                                           {"blackwell", 1000},
                                           {"cdna1", 300},
                                           {"cdna2", 300},
                                           {"cdna3", 750}}};
    for (const Entry& e : usual) {
        if (e.architecture == architecture) return e.tdp_w;
    }
    return 300.0;
}

// The catalog's entry for what was sold, by product ("Tesla K80 (one of two dies)": what stands before the bracket),
// else by the table's name.
std::optional<Device> known_device(const DeviceCatalog& catalog, const Device& d) {
    for (const std::string& name : {d.product, d.product.substr(0, d.product.find('(')), d.name}) {
        if (trim(name).empty()) continue;
        if (auto found = catalog.find(trim(name))) return *std::move(found);
    }
    return std::nullopt;
}

// What the table has no columns for.
void complete(Device& d, const DeviceCatalog& catalog, std::vector<std::string>& notes) {
    if (const auto known = known_device(catalog, d)) {
        d.product = known->product;  // so that constants learnt for the product are found
        d.tdp_w = known->tdp_w;
        d.fp32_matrix_flops_per_s = known->fp32_matrix_flops_per_s;
        d.bf16_flops_per_s = known->bf16_flops_per_s;
        d.fp8_flops_per_s = known->fp8_flops_per_s;
        notes.push_back(fmt::format("{}: board power {:.0f} W from the catalog's {}", d.name, d.tdp_w, known->name));
        return;
    }
    d.tdp_w = usual_tdp_w(d.architecture);
    if (d.vendor == "amd") d.fp32_matrix_flops_per_s = 2.0 * d.fp32_flops_per_s;  // CDNA's matrix units on fp32 data
    if (d.vendor == "amd" || d.compute_capability >= 8.0) d.bf16_flops_per_s = d.fp16_flops_per_s;
    if (d.compute_capability >= 8.9) d.fp8_flops_per_s = 2.0 * d.fp16_flops_per_s;
    notes.push_back(fmt::format("{}: board power {:.0f} W assumed, as usual for {}", d.name, d.tdp_w,
                                d.architecture.empty() ? "a data-centre card" : d.architecture));
}

}  // namespace

Result<std::vector<std::string>> add_gpu_table(DeviceCatalog& catalog, const std::string& path) {
    auto csv = CsvReader::open(path);
    if (!csv) return csv.error();
    if (csv->column("gpu") < 0)
        return invalid_argument(path + ": no column 'gpu'; the table needs one row for each GPU name");
    std::vector<std::string> fields, notes;
    std::vector<Device> devices;
    while (true) {
        const auto more = csv->next(fields);
        if (!more) return more.error();
        if (!*more) break;
        const auto text = [&](std::string_view name) {
            const int c = csv->column(name);
            return c < 0 ? std::string() : fields[static_cast<std::size_t>(c)];
        };
        const auto number = [&](std::string_view name) { return parse_number(text(name)).value_or(0.0); };
        Device d;
        d.name = text("gpu");
        d.product = text("product");
        d.vendor = to_lower(text("vendor"));
        d.architecture = to_lower(text("arch"));
        d.compute_capability = number("compute_cap");  // AMD writes gfx90a: none
        d.sm_count = static_cast<int>(number("sm_count"));
        d.boost_clock_Hz = number("boost_mhz") * 1e6;
        d.memory_bytes = number("mem_gb") * 1e9;
        d.memory_bandwidth_Bps = number("mem_bw_gbs") * 1e9;
        d.l2_bytes = number("l2_mb") * 1024 * 1024;
        d.fp32_flops_per_s = number("fp32_tflops") * 1e12;
        d.tf32_flops_per_s = number("tf32_tensor_tflops") * 1e12;
        d.fp16_flops_per_s = number("fp16_tensor_tflops") * 1e12;
        d.link = text("gpu_link");
        d.year = static_cast<int>(number("year"));
        if (d.name.empty() || d.sm_count < 1 || d.sm_count > 100'000 || d.boost_clock_Hz <= 0.0 ||
            d.memory_bandwidth_Bps <= 0.0 || d.fp32_flops_per_s <= 0.0) {
            return invalid_argument(
                fmt::format("{}:{}: '{}' needs sm_count, boost_mhz, mem_bw_gbs and fp32_tflops above 0", path,
                            csv->line(), d.name));
        }
        complete(d, catalog, notes);
        devices.push_back(std::move(d));
    }
    for (Device& d : devices) catalog.add(std::move(d), {});
    return notes;
}

}  // namespace dlcast
