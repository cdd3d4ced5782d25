// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/number_option.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {

// What the program would say of `--n TEXT`; empty where it takes it.
std::string fault_of(const CLI::Validator& check, std::string text, std::int64_t* read = nullptr) {
    CLI::App app;
    std::int64_t n = 0;
    app.add_option("--n", n)->transform(check);
    try {
        app.parse("--n " + text);
    } catch (const CLI::ParseError& fault) {
        return fault.what();
    }
    if (read) *read = n;
    return "";
}

}  // namespace

TEST_CASE("a count out of range is told with the range", "[cli]") {
    const CLI::Validator check = whole_number(1, 1000);
    for (const char* text : {"0", "1001", "99999999999999999999", "1.5", "many", "nan", "inf", "-1"}) {
        CAPTURE(text);
        CHECK(fault_of(check, text) == std::string("--n: \"") + text + "\" should be a whole number from 1 to 1000");
    }
}

TEST_CASE("a count may be written with an exponent", "[cli]") {
    std::int64_t n = 0;
    CHECK(fault_of(whole_number(1, 10'000), "1e3", &n).empty());
    CHECK(n == 1000);
}

TEST_CASE("a number out of range is told with the range", "[cli]") {
    for (const char* text : {"0", "nan", "inf", "-inf", "1e300", "x"})
        CHECK(fault_of(number_between(1e-6, 1e9), text) ==
              std::string("--n: \"") + text + "\" should be a number from 1e-06 to 1e+09");
}
