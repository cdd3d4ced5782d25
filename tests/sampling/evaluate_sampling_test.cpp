// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "tests/sampling/systems.h"
#include "tests/sampling/table_files.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

/// The two clocks with one cell a row for the time.
std::string table_text(const std::vector<std::string>& cells) {
    const Configurations all = test::two_clocks();
    std::string text = "config_name,first,second,time_s\n";
    for (std::size_t i = 0; i < cells.size(); ++i)
        text += fmt::format("c{},{},{},{}\n", i, all.values(i, 0), all.values(i, 1), cells[i]);
    return text;
}

std::vector<std::string> cells_of(const std::vector<double>& values) {
    std::vector<std::string> cells;
    for (const double v : values) cells.push_back(fmt::format("{}", v));
    return cells;
}

SamplingRequest request_of(const test::TableFile& source, const test::TableFile& target, std::size_t budget) {
    SamplingRequest request;
    request.source = source.path();
    request.target = target.path();
    request.column = "time_s";
    request.budget = budget;
    return request;
}

const auto source_cells = cells_of(test::run_s(test::two_clocks(), 6.0, 2.0, 1.0));
const auto target_cells = cells_of(test::run_s(test::two_clocks(), 3.0, 2.0, 1.0));

}  // namespace

TEST_CASE("guided sampling chooses and predicts the same whatever the other values are", "[sampling]") {
    const test::TableFile source(table_text(source_cells)), target(table_text(target_cells));
    const auto plain = evaluate_sampling(request_of(source, target, 5));
    REQUIRE(plain);
    CHECK(plain->chosen.size() == 5);
    CHECK(plain->errors.size() == 5);

    const std::string other = GENERATE("", "nan", "1e6");
    std::vector<std::string> cells(16, other);
    for (const std::size_t i : plain->chosen) cells[i] = target_cells[i];
    const test::TableFile scrambled(table_text(cells));
    const auto blind = evaluate_sampling(request_of(source, scrambled, 5));
    REQUIRE(blind);
    CHECK(blind->chosen == plain->chosen);
    CHECK(blind->predicted == plain->predicted);
    CHECK(blind->errors.empty() == (other != "1e6"));
}

// Direct transfer is off by 3 / 6 of the first clock's part, 20 % and more on average.
TEST_CASE("five of sixteen measurements beat the source's own values", "[sampling]") {
    const test::TableFile source(table_text(source_cells)), target(table_text(target_cells));
    const auto result = evaluate_sampling(request_of(source, target, 5));
    REQUIRE(result);
    CHECK(result->errors.front().rows == 11);
    CHECK(result->errors.front().mape_pct < 3.0);
    CHECK(result->errors.back().method == "direct transfer");
    CHECK(result->errors.back().mape_pct > 20.0);
}

TEST_CASE("what guided sampling cannot use is refused with its place", "[sampling]") {
    const test::TableFile source(table_text(source_cells)), target(table_text(target_cells));
    auto request = request_of(source, target, 17);
    CHECK_THAT(evaluate_sampling(request).error().message, Contains(target.path()) && Contains("budget of 17"));
    request.budget = 16;
    request.column = "time";
    CHECK_THAT(evaluate_sampling(request).error().message, Contains("no column 'time'"));
    auto cells = source_cells;
    cells[2] = "0";
    const test::TableFile zero(table_text(cells));
    CHECK_THAT(evaluate_sampling(request_of(zero, target, 5)).error().message, Contains(":4: time_s is '0'"));
    CHECK_THAT(evaluate_sampling(request_of(source, zero, 16)).error().message, Contains(":4: time_s is '0'"));
}

// Ridge regression on the log ratio with 19 random configurations had 4.3 and 3.3 %, a linear shift 6.2 and 4.3 %.
TEST_CASE("measured tables: 19 of 768 configurations carry 600x600 over to other image sizes", "[sampling][slow]") {
    const std::string folder = DLCAST_SOURCE_DIR "/../shared/data/sampling/xception_";
    const auto [size, reach_pct] = GENERATE(table<std::string, double>({{"400x400", 3.9}, {"800x800", 1.5}}));
    if (!std::filesystem::exists(folder + size + ".csv.gz")) {
        std::cout << "SKIPPED: no measured tables at " << folder << size << ".csv.gz\n";
        return;
    }
    SamplingRequest request;
    request.source = folder + "600x600.csv.gz";
    request.target = folder + size + ".csv.gz";
    request.column = "inference_time";
    request.budget = 19;
    const auto result = evaluate_sampling(request);
    REQUIRE(result);
    CHECK(result->errors.front().rows == 749);
    CHECK(result->errors.front().mape_pct < reach_pct);
    for (std::size_t i = 1; i < result->errors.size(); ++i)
        CHECK(result->errors.front().mape_pct < result->errors[i].mape_pct);
}
