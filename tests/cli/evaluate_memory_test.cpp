// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/evaluate_memory.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/installation.h"
#include "predictor/base/text.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {
MemoryCase one(const std::string& id, const std::string& gpu, std::int64_t batch, double share) {
    return {id, "source", "model", gpu, "fp32", batch, share * 16e9, 16e9};
}
}  // namespace

// Largest batches: A 0.6 (of 64 and 128), B 0.4, C 1.1; the median of three is 0.6.
TEST_CASE("only the largest batch of a set-up speaks for it", "[evaluate_memory]") {
    const std::vector<MemoryCase> cases{one("1", "A", 64, 0.9), one("2", "A", 128, 0.6), one("3", "B", 8, 0.4),
                                        one("4", "C", 8, 1.1)};
    const MemoryFigures figures = memory_figures(cases);
    CHECK(figures.rows == 4);
    CHECK(figures.above_card == 1);
    CHECK(figures.largest == 3);
    CHECK_THAT(figures.median_share_largest, WithinRel(0.6, 1e-12));
    CHECK_THAT(figures.maximum_share, WithinRel(1.1, 1e-12));
    CHECK(memory_figures_by(cases, &MemoryCase::gpu).at("A").rows == 2);
    CHECK_THAT(to_text({cases, {}}), Contains("above the card: 4 source model C"));
    CHECK(to_value({cases, {}}).find("above")->as_array().size() == 1);
}

TEST_CASE("rows are forecast whether they were measured or not", "[evaluate_memory]") {
    const ScratchFolder folder;
    const std::string file =
        folder.write("steps.csv",
                     "row_id,source,model,gpu,gpus,precision,batch_per_gpu,mode,optimizer,parallel\n"
                     "a,s,resnet50,V100-SXM2-16GB,1,fp32,32,train,sgd,none\nb,s,nothing-like-it,V100-SXM2-16GB,1,fp32,"
                     "32,train,sgd,none\n");
    const auto catalog = shipped_catalog();
    REQUIRE(catalog);
    const auto evaluation = evaluate_memory(file, *catalog, folder.path("pred.csv"));
    REQUIRE(evaluation);
    CHECK(evaluation->cases.size() == 1);
    CHECK(evaluation->undescribed.size() == 1);
    const auto text = read_file(folder.path("pred.csv"), 1 << 20);
    REQUIRE(text);
    CHECK_THAT(*text, Catch::StartsWith("row_id,pred_memory_bytes,card_bytes\na,"));
}

// Every row ran, so none may need more than its card has; and a forecast of hardly anything would pass that too.
TEST_CASE("no step that ran is forecast above its card, and the largest fill half of it", "[evaluate_memory]") {
    const std::string file = DLCAST_SOURCE_DIR "/../shared/data/steps/steps.csv";
    if (!std::filesystem::exists(file)) {
        WARN("SKIPPED: ../shared/data/steps is not there");
        return;
    }
    const auto catalog = shipped_catalog();
    const auto evaluation = evaluate_memory(file, *catalog, "");
    REQUIRE(evaluation);
    const MemoryFigures figures = memory_figures(evaluation->cases);
    CHECK(figures.above_card == 0);
    CHECK(figures.median_share_largest >= 0.5);
}
