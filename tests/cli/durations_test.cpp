// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/durations.h"

#include <catch2/catch.hpp>

using dlcast::format_durations;
using Texts = std::vector<std::string>;

TEST_CASE("times side by side have one unit", "[text]") {
    CHECK(format_durations({73, 113}) == Texts{"73 s", "113 s"});
    CHECK(format_durations({45 * 60, 62 * 60}) == Texts{"45 min", "62 min"});
    CHECK(format_durations({7200, 9000}) == Texts{"2 h", "2 h 30 min"});
    CHECK(format_durations({0, 43'200}) == Texts{"0 s", "12 h"});  // no unit suits both
    CHECK(format_durations({}).empty());
}
