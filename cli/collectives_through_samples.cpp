// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/collectives_through_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/site_samples.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

using Rows = std::vector<std::size_t>;

// A set-up's GPU as a device of its own: its links alone count here, so that any name will do.
DeviceCatalog catalog_of(const std::string& gpu) {
    Device device;
    device.name = gpu;
    DeviceCatalog out;
    out.add(device, {});
    return out;
}

std::string gpu_name(const CollectiveSetup& setup) { return squeeze(setup.gpu).empty() ? "GPU" : setup.gpu; }

std::string file_name(const CollectiveRow& row) {
    std::string out = row.setup_id + "-" + row.dtype;
    std::replace_if(
        out.begin(), out.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_'; }, '_');
    return out;
}

TimingSample sample_of(const CollectiveRow& row) {
    TimingSample out;
    out.device.name = gpu_name(*row.setup);
    out.versions = {{"backend", "nccl"}};
    MeasuredCollective point;
    point.collective = *row.kind;
    point.bytes = static_cast<std::uint64_t>(row.bytes);
    point.ranks = row.setup->nodes * row.setup->ranks_per_node;
    point.nodes = row.setup->nodes;
    point.library = "nccl";
    out.point = point;
    out.repetitions = 1;
    out.median_s = out.fastest_s = out.slowest_s = 1e-6 * *row.time_us;
    return out;
}

// Rows of one set-up and data type, by what was read back of them.
void correct_rows(const CollectiveTables& tables, const Rows& rows, const std::vector<RefinedCollective>& refined,
                  std::vector<CollectiveForecast>& forecasts) {
    for (const RefinedCollective& table : refined) {
        const auto form = [&](double bytes) {
            for (const std::size_t i : rows)
                if (tables.rows[i].kind == table.collective && tables.rows[i].bytes == bytes)
                    return forecasts[i].form_us;
            return 0.0;
        };
        const CollectiveCorrection correction(table, form);
        for (const std::size_t i : rows)
            if (tables.rows[i].kind == table.collective)
                forecasts[i].time_us =
                    forecasts[i].form_us * correction.factor(tables.rows[i].bytes, forecasts[i].form_us);
    }
}

}  // namespace

Status correct_through_samples(const CollectiveTables& tables, const std::string& folder,
                               std::vector<CollectiveForecast>& forecasts) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return invalid_argument(fmt::format("cannot make '{}': {}", folder, error.message()));
    std::map<std::string, Rows> by_setup;
    for (std::size_t i = 0; i < tables.rows.size(); ++i)
        if (forecasts[i].form_us > 0) by_setup[file_name(tables.rows[i])].push_back(i);
    for (const auto& [name, rows] : by_setup) {
        std::string text;
        for (const std::size_t i : rows)
            if (forecasts[i].fitted) text += to_json_line(sample_of(tables.rows[i])) + '\n';
        const std::string file = folder + "/" + name + ".jsonl";
        if (auto s = write_file_atomically(file, text); !s) return s;
        const auto read = read_site_samples({file}, catalog_of(gpu_name(*tables.rows[rows.front()].setup)));
        if (!read) return read.error();
        correct_rows(tables, rows, tables_of(read->collectives), forecasts);
    }
    return ok();
}

}  // namespace dlcast
