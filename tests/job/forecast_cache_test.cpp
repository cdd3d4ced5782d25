// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/forecast_cache.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {

std::shared_ptr<const Decision> decision() { return std::make_shared<Decision>(); }

}  // namespace

TEST_CASE("requests that differ in what a forecast depends on have keys of their own", "[forecast_cache]") {
    SubmitRequest request;
    request.payload = "{}";
    request.partition = "a";
    const std::string key = forecast_key(request);
    SubmitRequest other = request;
    other.features = "a";
    other.partition = "";  // the same text in another place
    CHECK(forecast_key(other) != key);
    other = request;
    other.min_nodes = 2;
    CHECK(forecast_key(other) != key);
    other = request;
    other.user_id = 7;  // who may go elsewhere, under other limits
    CHECK(forecast_key(other) != key);
    other = request;
    other.time_limit_min = 60;
    other.array = "0-9";
    other.admin_comment = "x";
    CHECK(forecast_key(other) == key);
}

TEST_CASE("the least recently used decision is forgotten first, and no more are kept than said", "[forecast_cache]") {
    ForecastCache cache;
    const auto kept = decision();
    cache.insert("kept", kept);
    for (std::size_t i = 0; i < 2 * ForecastCache::max_entries; ++i) {
        cache.insert(std::to_string(i), decision());
        CHECK(cache.find("kept") == kept);
    }
    CHECK(cache.size() == ForecastCache::max_entries);
    CHECK(cache.find("0") == nullptr);
}

TEST_CASE("large keys take the place of many small ones", "[forecast_cache]") {
    ForecastCache cache;
    for (int i = 0; i < 100; ++i) cache.insert(std::string(64 * 1024, 'x') + std::to_string(i), decision());
    CHECK(cache.size() < 32);  // 2 MiB over 64 KiB each
    cache.insert(std::string(ForecastCache::max_key_bytes + 1, 'x'), decision());
    CHECK(cache.size() < 32);
}
