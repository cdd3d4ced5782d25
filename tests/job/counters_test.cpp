// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/counters.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::Contains;

TEST_CASE("quantiles are the ends of the buckets that hold them", "[counters]") {
    Counters counters;
    CHECK(counters.quantile_s(0.5) == 0.0);
    for (int i = 0; i < 98; ++i) counters.took(100e-6);
    for (int i = 0; i < 2; ++i) counters.took(5e-3);
    // A bucket ends at most 2^(1/4) = 1.19 above what is in it.
    CHECK(counters.quantile_s(0.5) >= 100e-6);
    CHECK(counters.quantile_s(0.5) <= 119e-6);
    CHECK(counters.quantile_s(0.99) >= 5e-3);
    CHECK(counters.quantile_s(0.99) <= 5.95e-3);
}

TEST_CASE("times beyond all buckets are kept in the outer ones", "[counters]") {
    Counters counters;
    counters.took(-1.0);
    counters.took(0.0);
    CHECK(counters.quantile_s(0.5) < 2e-6);
    for (int i = 0; i < 10; ++i) counters.took(1e9);
    CHECK(counters.quantile_s(0.99) > 10.0);
}

TEST_CASE("metrics have help, type and a value a line", "[counters]") {
    Counters counters;
    counters.add(Count::submissions);
    counters.add(Count::torch);
    counters.took(1e-3);
    const std::string text = counters.metrics() + gauge("dlcast_weights_info", "Weights.", "id=\"abc\"", 1);
    CHECK_THAT(text, Contains("# TYPE dlcast_submissions_total counter\ndlcast_submissions_total 1\n"));
    CHECK_THAT(text, Contains("dlcast_forecasts_total{by=\"torch\"} 1\ndlcast_forecasts_total{by=\"analytic\"} 0\n"));
    CHECK_THAT(text, Contains("# TYPE dlcast_forecast_seconds summary\n"));
    CHECK_THAT(text, Contains("dlcast_forecast_seconds_count 1\n"));
    CHECK_THAT(text, Contains("# TYPE dlcast_weights_info gauge\ndlcast_weights_info{id=\"abc\"} 1\n"));
    CHECK(text.back() == '\n');
}
