// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/array_tasks.h"

#include <catch2/catch.hpp>

using namespace dlcast;

TEST_CASE("array tasks are counted as sbatch counts them", "[array]") {
    const auto [text, tasks] = GENERATE(table<const char*, std::int64_t>({
        {"0-9", 10},
        {"0-9%3", 10},
        {"7", 1},
        {"1,3,5", 3},
        {"20-30:2", 6},  // 20 22 24 26 28 30
        {"0-9,12,20-30:2%4", 17},
        {"0-9%3,12,20-30:2", 17},
        {"1,1,1", 1},
        {"0-9,5-14,3", 15},
        {"0-4000000", 4000001},
    }));
    CHECK(count_array_tasks(text) == tasks);
}

TEST_CASE("what is no array has no tasks", "[array]") {
    const auto text = GENERATE("", "a-b", "9-0", "1-", "-3", "1-9:0", "0-99999999999999999999", "0-4000000000", "1,,2",
                               "0-4000000,0-4000000");
    CHECK_FALSE(count_array_tasks(text));
}
