// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/gpu_request.h"

#include <catch2/catch.hpp>

using namespace dlcast;
using Catch::Matchers::Contains;

TEST_CASE("GPUs are found in every spelling of a TRES list", "[gpu_request]") {
    const auto [text, type, count] = GENERATE(table<const char*, const char*, int>({
        {"gpu", "", 1},
        {"gpu:4", "", 4},
        {"gpu=2", "", 2},
        {"gpu:a100", "a100", 1},
        {"gpu:a100:4", "a100", 4},
        {"gres:gpu:a100:2", "a100", 2},
        {"gres/gpu=3", "", 3},
        {"gres/gpu:v100=8", "v100", 8},
        {"cpu=4,gres:gpu:2,gres:nvme:1", "", 2},
        {"gpu:a100_3g.20gb:1", "a100_3g.20gb", 1},
        {"gpu:t4:2(S:0-1)", "t4", 2},
        {"gpu:1,VramPerGpu:12G", "", 1},
        {"shard:2,gpu:v100:2,nvme:1", "v100", 2},
        // --gres=gpu:a100:4 --gpus-per-node=4: one request, told twice
        {"gpu:a100:4,gres:gpu:4", "a100", 4},
        {"gres:gpu:4,gpu:A100:4", "A100", 4},
        {"gpu:a100:1,gpu:a100:2", "a100", 2},
        {"1g.10gb:1,gpu:1g.10gb:3", "1g.10gb", 3},
        {"gpu:1k", "", 1024},
    }));
    const auto gpus = parse_gpu_tres(text);
    REQUIRE(gpus);
    REQUIRE(*gpus);
    CHECK((*gpus)->type == type);
    CHECK((*gpus)->count == count);
}

TEST_CASE("other resources are no GPUs", "[gpu_request]") {
    const auto text = GENERATE("", "cpu=4", "gres:nvme:1", "gpumem:4", "license=gpu");
    const auto gpus = parse_gpu_tres(text);
    REQUIRE(gpus);
    CHECK_FALSE(*gpus);
}

TEST_CASE("a TRES list that cannot be read is an error", "[gpu_request]") {
    const auto text =
        GENERATE("gpu=x", "gpu:a100:x", "gpu:a100:1,gpu:v100:1", "gpu:a100:99999999999999999999", "gpu:a100:-1");
    CHECK_FALSE(parse_gpu_tres(text));
}

TEST_CASE("options of one request make GPUs and nodes", "[gpu_request]") {
    struct Case {
        SubmitRequest request;
        int gpus, nodes, per_node;
    };
    const auto make = [](auto fill) {
        SubmitRequest r;
        fill(r);
        return r;
    };
    const std::vector<Case> cases = {
        // --gres=gpu:4
        {make([](auto& r) { r.tres_per_node = "gres:gpu:4"; }), 4, 1, 4},
        // -N 2 --gpus-per-node=a100:4
        {make([](auto& r) { r.tres_per_node = "gres:gpu:a100:4", r.min_nodes = 2; }), 8, 2, 4},
        // --gpus=8: nodes stay open
        {make([](auto& r) { r.tres_per_job = "gres:gpu:8"; }), 8, 0, 0},
        // -N 2 --gpus=8
        {make([](auto& r) { r.tres_per_job = "gres:gpu:8", r.min_nodes = 2; }), 8, 2, 4},
        // --gpus=8 --gpus-per-node=4
        {make([](auto& r) { r.tres_per_job = "gres:gpu:8", r.tres_per_node = "gres:gpu:4"; }), 8, 2, 4},
        // -n 6 --gpus-per-task=1
        {make([](auto& r) { r.tres_per_task = "gres:gpu:1", r.num_tasks = 6; }), 6, 0, 0},
        // -N 2 --ntasks-per-node=4 --gpus-per-task=1
        {make([](auto& r) { r.tres_per_task = "gres:gpu:1", r.min_nodes = 2, r.ntasks_per_node = 4; }), 8, 2, 4},
        // -n 8 --ntasks-per-node=4 --gpus-per-task=1
        {make([](auto& r) { r.tres_per_task = "gres:gpu:1", r.num_tasks = 8, r.ntasks_per_node = 4; }), 8, 2, 4},
        // --gpus-per-socket=2
        {make([](auto& r) { r.tres_per_socket = "gres:gpu:2"; }), 2, 1, 2},
        // -N 2 --sockets-per-node=2 --gpus-per-socket=2
        {make([](auto& r) { r.tres_per_socket = "gres:gpu:2", r.min_nodes = r.max_nodes = 2, r.sockets_per_node = 2; }),
         8, 2, 4},
        // -n 8 --ntasks-per-socket=2 --gpus-per-socket=1
        {make([](auto& r) { r.tres_per_socket = "gres:gpu:1", r.num_tasks = 8, r.ntasks_per_socket = 2; }), 4, 0, 0},
        // -n 8 --ntasks-per-gpu=2
        {make([](auto& r) { r.num_tasks = 8, r.ntasks_per_gpu = 2; }), 4, 0, 0},
        // --gpus=8 --ntasks-per-gpu=2
        {make([](auto& r) { r.tres_per_job = "gres:gpu:8", r.ntasks_per_gpu = 2; }), 8, 0, 0},
        // --gres=gpu:4 --gpus=4 --gpus-per-task=1 -n 4: told three times
        {make([](auto& r) {
             r.tres_per_node = "gres:gpu:4", r.tres_per_job = "gres:gpu:4", r.tres_per_task = "gres:gpu:1";
             r.num_tasks = 4;
         }),
         4, 1, 4},
        // -N 2-4 --gpus-per-node=4: at least
        {make([](auto& r) { r.tres_per_node = "gres:gpu:4", r.min_nodes = 2, r.max_nodes = 4; }), 8, 2, 4},
        // -N 1-4 --gpus=8: as the nodes allow
        {make([](auto& r) { r.tres_per_job = "gres:gpu:8", r.min_nodes = 1, r.max_nodes = 4; }), 8, 1, 0},
        // -N 2 --gpus=7: 4 and 3, or the like
        {make([](auto& r) { r.tres_per_job = "gres:gpu:7", r.min_nodes = r.max_nodes = 2; }), 7, 2, 0},
    };
    for (const Case& c : cases) {
        INFO(c.request.tres_per_job << "|" << c.request.tres_per_node << "|" << c.request.tres_per_task);
        const auto gpus = read_gpu_request(c.request);
        REQUIRE(gpus);
        REQUIRE(*gpus);
        CHECK((*gpus)->gpus == c.gpus);
        CHECK((*gpus)->nodes == c.nodes);
        CHECK((*gpus)->gpus_per_node == c.per_node);
    }
}

TEST_CASE("a job without GPUs asks for none", "[gpu_request]") {
    SubmitRequest request;
    request.tres_per_node = "gres:nvme:1";
    const auto gpus = read_gpu_request(request);
    REQUIRE(gpus);
    CHECK_FALSE(*gpus);
}

TEST_CASE("whole nodes without a count of GPUs are all of their GPUs", "[gpu_request]") {
    SubmitRequest request;
    request.exclusive = true;
    request.min_nodes = request.max_nodes = 2;
    auto gpus = read_gpu_request(request);
    REQUIRE(gpus);
    REQUIRE(*gpus);
    CHECK((*gpus)->whole_nodes);
    CHECK((*gpus)->nodes == 2);
    request.tres_per_node = "gres:gpu:1";
    gpus = read_gpu_request(request);
    REQUIRE(gpus);
    CHECK_FALSE((*gpus)->whole_nodes);
    CHECK((*gpus)->gpus == 2);
}

TEST_CASE("contradicting counts name the remedy", "[gpu_request]") {
    SubmitRequest request;
    request.tres_per_job = "gres:gpu:7";
    request.min_nodes = request.max_nodes = 8;
    auto gpus = read_gpu_request(request);
    REQUIRE_FALSE(gpus);
    CHECK_THAT(gpus.error().message, Contains("8 nodes for 7 GPUs") && Contains("--gpus-per-node"));
    request.min_nodes = request.max_nodes = 2;
    request.tres_per_job = "gres:gpu:8";
    request.tres_per_node = "gres:gpu:2";
    CHECK_FALSE(read_gpu_request(request));
    request = {};
    request.tres_per_node = "gres:gpu:a100:1";
    request.tres_per_job = "gres:gpu:v100:1";
    CHECK_FALSE(read_gpu_request(request));
    request = {};
    request.tres_per_node = "gres:gpu:1000000";
    request.min_nodes = 4'000'000'000;
    CHECK_FALSE(read_gpu_request(request));
}
