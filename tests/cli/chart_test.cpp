// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/chart.h"

#include <catch2/catch.hpp>

#include "cli/svg.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {
std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}
}  // namespace

TEST_CASE("a drawing escapes what would end its elements", "[chart]") {
    Svg svg(100, 50);
    svg.text(1, 2, "a<b & \"c\"");
    CHECK_THAT(svg.finish(), Contains("a&lt;b &amp; &quot;c&quot;</text>") && Catch::StartsWith("<svg ") &&
                                 Catch::EndsWith("</svg>\n"));
}

// Two curves of three points in two panels; a knee is one ring more.
TEST_CASE("every point of a curve is drawn, a knee with a ring", "[chart]") {
    const Curve fast{"fast", {{1, 10, false, false}, {2, 5, false, true}, {4, 4, true, false}}};
    const Curve slow{"slow", {{1, 20, false, false}, {2, 11, false, false}, {4, 8, false, false}}};
    const std::string svg =
        curve_chart("title", "GPUs", {{"hours", true, {fast, slow}}, {"%", false, {fast, slow}}}, {});
    CHECK(count_of(svg, "<polyline") == 4);
    CHECK(count_of(svg, "r=\"3.5\"") == 12 + 2);  // and two in the legend
    CHECK(count_of(svg, "r=\"8\"") == 2);
    CHECK(count_of(svg, "fill=\"white\" stroke") == 2);
}

TEST_CASE("the longest bar is the largest value", "[chart]") {
    const std::string svg =
        bar_chart("title", {"a", "b"}, {{"hours", {{4, "4 h", false}, {1, "1 h", true}}}}, {"note"});
    CHECK_THAT(svg, Contains("width=\"200.0\"") && Contains("width=\"50.0\"") && Contains("#ccc") && Contains("note"));
}
