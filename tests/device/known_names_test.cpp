// SPDX-License-Identifier: GPL-2.0-or-later
// Every GPU that the measured tables name is in the catalog, with the figures they state.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "cli/csv.h"
#include "predictor/base/text.h"
#include "predictor/device/catalog.h"

using namespace dlcast;

namespace {

const std::string data = DLCAST_SOURCE_DIR "/../shared/data/";

DeviceCatalog shipped() {
    const std::string path = DLCAST_SOURCE_DIR "/etc/gpus.toml";
    return *DeviceCatalog::parse(*read_file(path, 1 << 22), path);
}

// Calls `see` with each row of the table's columns; false, with a line, where the table is not here.
template <typename See>
bool each_row(const std::string& file, const std::vector<std::string>& columns, See see) {
    if (!std::filesystem::exists(data + file)) {
        std::cout << "SKIPPED: " << file << " is not here\n";
        return false;
    }
    auto table = CsvReader::open(data + file);
    REQUIRE(table);
    std::vector<std::string> fields;
    while (true) {
        const auto more = table->next(fields);
        REQUIRE(more);
        if (!*more) return true;
        std::vector<std::string> row;
        for (const std::string& column : columns)
            row.push_back(fields.at(static_cast<std::size_t>(table->column(column))));
        see(row);
    }
}

}  // namespace

TEST_CASE("GPUs of the measured operators are known, with the figures that stand beside them", "[catalog][data]") {
    const DeviceCatalog catalog = shipped();
    each_row("ops/gpus.csv.gz", {"gpu", "sm_count", "mem_bw_gbs", "fp32_tflops", "year"}, [&](const auto& row) {
        INFO(row[0]);
        const auto device = catalog.find(row[0]);
        REQUIRE(device);
        CHECK(device->sm_count == std::stoi(row[1]));
        CHECK(device->memory_bandwidth_Bps == Approx(1e9 * std::stod(row[2])).epsilon(0.01));
        CHECK(device->fp32_flops_per_s ==
              Approx(1e12 * std::stod(row[3])).epsilon(0.03));  // two readings of the boost clock
    });
}

TEST_CASE("GPUs of the measured steps are known by name, one variant each", "[catalog][data]") {
    const DeviceCatalog catalog = shipped();
    each_row("steps/steps.csv", {"gpu"}, [&](const auto& row) {
        INFO(row[0]);
        CHECK(catalog.find(row[0]));
    });
}

TEST_CASE("GPUs of the measured collectives are known, or taken as their most common variant", "[catalog][data]") {
    const DeviceCatalog catalog = shipped();
    each_row("nccl/setups.csv.gz", {"gpu"}, [&](const auto& row) {
        INFO(row[0]);
        std::string note;
        if (row[0] == "unknown")
            CHECK_FALSE(catalog.find_or_typical(row[0], note));
        else
            CHECK(catalog.find_or_typical(row[0], note));
    });
}
