// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/sampling_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/sampling/table_files.h"

using namespace dlcast;
using Catch::Matchers::Contains;

TEST_CASE("a table may be separated by commas, blanks, tabs or semicolons", "[sampling]") {
    const char separator = GENERATE(',', ' ', '\t', ';');
    std::string text = "config_name,clock,time_s\na,1,0.5\nb,2,0.25\n";
    std::replace(text.begin(), text.end(), ',', separator);
    const test::TableFile file(text);
    const auto table = read_sampling_table(file.path());
    REQUIRE(table);
    REQUIRE(table->columns.size() == 3);
    CHECK(table->columns[2].cells == std::vector<std::string>{"0.5", "0.25"});
    CHECK(table->lines == std::vector<std::size_t>{2, 3});
    CHECK(configuration_names(*table) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a row with another number of fields is named by its line", "[sampling]") {
    const test::TableFile file("clock time_s\n1 0.5\n2\n");
    CHECK_THAT(read_sampling_table(file.path()).error().message, Contains(":3: 1 fields where the header has 2"));
}

TEST_CASE("a table without configurations is refused", "[sampling]") {
    const test::TableFile file("clock,time_s\n");
    CHECK_THAT(read_sampling_table(file.path()).error().message, Contains("no configuration"));
}

// clock and core repeat; time_s, power and serial are different in each row; name is text, mode is one value.
TEST_CASE("options are the numbers that vary and repeat", "[sampling]") {
    const test::TableFile file(
        "name,serial,clock,core,mode,time_s,power\n"
        "a,1,1,0,5,0.9,11\nb,2,1,1,5,0.8,12\nc,3,2,0,5,0.7,13\nd,4,2,1,5,0.6,14\n");
    auto table = read_sampling_table(file.path());
    REQUIRE(table);
    REQUIRE(take_column(*table, "time_s"));
    CHECK(table->find("time_s") == nullptr);
    const auto options = common_options(*table, *table, {});
    REQUIRE(options);
    CHECK(*options == std::vector<std::string>{"clock", "core"});
    CHECK(configurations_of(*table, *options).values.data == std::vector<double>{1, 0, 1, 1, 2, 0, 2, 1});
    CHECK(*common_options(*table, *table, {"serial"}) == std::vector<std::string>{"serial"});
    CHECK_THAT(common_options(*table, *table, {"name"}).error().message, Contains(":2: option name is 'a'"));
    CHECK_THAT(common_options(*table, *table, {"clok"}).error().message, Contains("did you mean 'clock'?"));
}

TEST_CASE("tables with different options are refused", "[sampling]") {
    const test::TableFile one("clock,core\n1,0\n1,1\n2,0\n2,1\n"), two("clock,disk\n1,0\n1,1\n2,0\n2,1\n");
    const auto a = read_sampling_table(one.path()), b = read_sampling_table(two.path());
    REQUIRE(a);
    REQUIRE(b);
    CHECK_THAT(common_options(*a, *b, {}).error().message, Contains("'core'") && Contains("missing"));
}

TEST_CASE("a measurement must be a number above zero, where it is asked for", "[sampling]") {
    const test::TableFile file("clock,time_s\n1,0.5\n2,nan\n3,-1\n4,0\n5,\n");
    auto table = read_sampling_table(file.path());
    REQUIRE(table);
    const auto column = take_column(*table, "time_s");
    REQUIRE(column);
    CHECK(*measurements(*table, *column, {0}) == std::vector<double>{0.5});
    for (const std::size_t row : {1, 2, 3, 4})
        CHECK_THAT(measurements(*table, *column, {row}).error().message,
                   Contains(fmt::format(":{}: time_s is", row + 2)));
}
