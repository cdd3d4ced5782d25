// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/time_cache.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/timing/devices.h"
#include "tests/timing/operators.h"

using namespace dlcast;
using namespace dlcast::test;

TEST_CASE("a time is found again for an equal operator on an equal device with the same clock alone", "[cache]") {
    TimeCache cache;
    const Operator op = linear(64, 128, 256);
    const Device device = v100();
    const OperatorQuery query{&op, &device, Clock::kernel};
    OperatorTime time{1e-3, 0.1};
    CHECK(cache.find({&query, 1}, {&time, 1}) == std::vector<std::size_t>{0});
    const std::size_t first = 0;
    cache.insert({&query, 1}, {&time, 1}, {&first, 1});

    const Operator equal_op = op;
    const Device equal_device = device;
    Operator other_op = op;
    other_op.n = 257;
    Device other_device = device;
    other_device.tdp_w += 50.0;  // the same name, read again with another figure
    const OperatorQuery queries[] = {{&equal_op, &equal_device, Clock::kernel},
                                     {&other_op, &device, Clock::kernel},
                                     {&op, &other_device, Clock::kernel},
                                     {&op, &device, Clock::call}};
    std::vector<OperatorTime> times(4);
    CHECK(cache.find(queries, times) == std::vector<std::size_t>{1, 2, 3});
    CHECK(times[0].median_s == 1e-3);
    CHECK(times[0].log_sd == 0.1);
}

TEST_CASE("the cache forgets rather than grow beyond its limits", "[cache]") {
    TimeCache cache;
    const OperatorTime time{1e-3, 0.1};
    const std::size_t first = 0;
    Device device = v100();
    Operator op = linear(64, 128, 256);
    const OperatorQuery query{&op, &device, Clock::kernel};
    SECTION("many operators") {
        for (std::size_t i = 0; i < TimeCache::max_entries + 10; ++i) {
            op.n = static_cast<std::int64_t>(i) + 1;
            cache.insert({&query, 1}, {&time, 1}, {&first, 1});
            REQUIRE(cache.size() <= TimeCache::max_entries);
        }
        CHECK(cache.size() == 10);  // the table was emptied before the first one too many
    }
    SECTION("many devices") {
        for (std::size_t i = 0; i < TimeCache::max_devices + 3; ++i) {
            device.tdp_w = static_cast<double>(i) + 1.0;
            cache.insert({&query, 1}, {&time, 1}, {&first, 1});
        }
        CHECK(cache.size() == 3);
    }
}

TEST_CASE("threads that fill and read the cache together read what was put in", "[cache]") {
    TimeCache cache;
    const Device device = v100();
    std::vector<Operator> operators;
    for (int i = 0; i < 200; ++i) operators.push_back(linear(64, 128, i + 1));
    std::array<int, 4> wrong{};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
        threads.emplace_back([&, t] {
            for (const Operator& op : operators) {
                const OperatorQuery query{&op, &device, Clock::kernel};
                OperatorTime time{static_cast<double>(op.n), 0.1};
                const std::size_t first = 0;
                cache.insert({&query, 1}, {&time, 1}, {&first, 1});
                time = {};
                const bool found = cache.find({&query, 1}, {&time, 1}).empty();
                wrong[t] += found && time.median_s == static_cast<double>(op.n) ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int count : wrong) CHECK(count == 0);
    CHECK(cache.size() == 200);
}
