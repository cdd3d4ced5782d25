// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <set>

#include "cli/installation.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

// 8 x 8 settings of two clocks; the second halves nothing.
std::string table(bool with_values) {
    std::string text = with_values ? "config_name,first,second,time_s\n" : "config_name,first,second\n";
    for (int i = 0; i < 64; ++i) {
        const double first = 1 + i % 8, second = 1 + i / 8;
        text += fmt::format("c{},{},{}", i, first, second);
        text += with_values ? fmt::format(",{}\n", 6 / first + 2 / second) : "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("configurations are chosen from a table, with or without values of the new machine", "[refine]") {
    const ScratchFolder folder;
    TablePlanRequest request;
    request.source = folder.write("source.csv", table(true));
    request.column = "time_s";
    request.budget = 6;
    const auto plan = plan_configurations(request);
    INFO((plan ? "" : plan.error().message));
    REQUIRE(plan);
    CHECK(plan->candidates == 64);
    CHECK(std::set<std::string>(plan->names.begin(), plan->names.end()).size() == 6);
    CHECK(plan->options == std::vector<std::string>{"first", "second"});
    for (std::size_t i = 0; i < plan->names.size(); ++i)
        CHECK(plan->names[i] == fmt::format("c{}", (plan->values[i][0] - 1) + 8 * (plan->values[i][1] - 1)));

    request.candidates = folder.write("target.csv", table(false));
    CHECK(plan_configurations(request)->names == plan->names);
    request.budget = 0;
    CHECK(plan_configurations(request)->names.size() == 2);  // 2.4 % of 64, rounded up
    request.column = "energy";
    CHECK_THAT(plan_configurations(request).error().message, Contains("no column 'energy'"));
}

TEST_CASE("a plan holds distinct operators of the models, some of each group", "[refine][torch]") {
    const std::string module_file = DLCAST_BINARY_DIR "/predictor/torch/dlcast_torch.so";
    if (!std::filesystem::exists(module_file)) {
        std::puts("SKIPPED: this build has no dlcast_torch.so");
        return;
    }
    const auto model = open_torch_model(module_file, DLCAST_SOURCE_DIR "/etc/weights");
    REQUIRE(model);
    const Device device = *shipped_catalog()->find("L40S");
    OperatorSpace space{{"resnet50", "bert-base-uncased"}, {8, 32}, {}};
    const auto plan = plan_operators(space, device, **model, 24, 1);
    INFO((plan ? "" : plan.error().message));
    REQUIRE(plan);
    REQUIRE(plan->groups.size() ==
            5);  // both in fp32: convolutions, two kinds of products and of memory-bound operators
    std::size_t chosen = 0, candidates = 0;
    for (const PlannedGroup& group : plan->groups) {
        CHECK(group.chosen >= 3);
        CHECK(group.candidates > group.chosen);
        chosen += group.chosen;
        candidates += group.candidates;
    }
    CHECK(chosen == plan->operators.size());
    CHECK(chosen == 24);  // the budget
    // A part is its share of the budget, give or take what the three of small groups take from the others.
    for (const PlannedGroup& group : plan->groups)
        if (group.chosen > 3)
            CHECK(static_cast<double>(group.chosen) ==
                  Approx(24.0 * static_cast<double>(group.candidates) / static_cast<double>(candidates)).margin(4));
    for (std::size_t i = 0; i < plan->operators.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(plan->operators[i] == plan->operators[j]);

    const ScratchFolder folder;
    std::string text;
    for (const Operator& op : plan->operators) text += to_plan_line(op) + "\n";
    const auto read = read_plan(folder.write("plan.jsonl", text));
    REQUIRE(read);
    CHECK(read->size() == chosen);

    // Five groups, three of each: refine can judge no fewer.
    CHECK(plan->least == 15);
    const auto few = plan_operators(space, device, **model, 1, 1);
    REQUIRE_FALSE(few);
    CHECK_THAT(few.error().message, Contains("--budget 1:") && Contains("give --budget 15 or more"));
    CHECK(plan_operators(space, device, **model, 15, 1)->operators.size() == 15);
    CHECK(plan_operators(space, device, **model, 16, 1)->operators.size() == 16);
    const auto usual = plan_operators({{"vgg16"}, {8}, {}}, device, **model, 0, 1);
    REQUIRE(usual);
    CHECK(usual->operators.size() == usual->least);  // vgg16 has some fifty operators: 2.4 % are two

    space.precisions = {"int4"};
    CHECK_THAT(plan_operators(space, device, **model, 24, 1).error().message, Contains("int4"));
}
