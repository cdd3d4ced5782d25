// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/accuracy_report.h"

#include <catch2/catch.hpp>

#include "tests/scratch_folder.h"

using namespace dlcast;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a page holds each kept result with its figures, command and date", "[accuracy]") {
    const ScratchFolder folder;
    folder.write("20-models.json",
                 R"({"title": "Whole models", "command": "dlcast evaluate models A B", "date": "2026-01-02",
                     "result": {"rows": 3, "mape_pct": 5.04, "weights": "abc123",
                                "by": {"gpu": {"T4 total": {"dlcast": {"rows": 3, "mape_pct": 5.04},
                                                            "micro": {"rows": 2, "mape_pct": 12.5}}}}}})");
    folder.write("10-ops-test.json",
                 R"({"title": "Operators", "command": "dlcast evaluate ops C", "picture": "accuracy/ops.svg",
                     "result": {"rows": 2, "mape_pct": 7.25, "rmse_ms": 0.5, "coverage_90_pct": 90,
                                "by": {"gpu": {"T4": {"rows": 2, "mape_pct": 7.25, "rmse_ms": 0.5}}}}})");
    const auto results = read_kept_results(folder.path(""));
    if (!results) FAIL(results.error().message);
    REQUIRE(results->size() == 2);
    const std::string page = accuracy_page(*results);
    CHECK(page.find("## Operators") < page.find("## Whole models"));
    CHECK(holds(page, "| dlcast | 2 | 7.2 | 0.500 | 90.0 |"));
    CHECK(holds(page, "| T4 | 2 | 7.2 | 0.500 |"));
    CHECK(holds(page, "`dlcast evaluate models A B` (2026-01-02), weights abc123"));
    CHECK(holds(page, "| gpu | rows | dlcast | Li et al. |"));
    CHECK(holds(page, "| T4 total | 3 | 5.0 | 12.5 |"));
    CHECK(holds(page, "10.9 %"));  // Justus et al., published for such rows
    CHECK(holds(page, "(accuracy/ops.svg)"));
}

TEST_CASE("a result that is none names its file", "[accuracy]") {
    const ScratchFolder folder;
    CHECK_FALSE(read_kept_results(folder.path("nowhere")));
    folder.write("x.json", R"({"title": "T", "command": "c"})");
    const auto without = read_kept_results(folder.path(""));
    REQUIRE_FALSE(without);
    CHECK(holds(without.error().message, "x.json"));
    CHECK(holds(without.error().message, "result"));
}
