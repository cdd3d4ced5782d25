// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_weights.h"

#include <catch2/catch.hpp>

#include "predictor/base/text.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;

namespace {

StepWeights some_weights() {
    StepWeights weights;
    weights.coefficients[3] += 0.25;
    weights.deviations[3] = 0.0125;
    weights.spread = {0.1, 0.15, 0.2};
    weights.gpus = {"A100-SXM4-80GB", "T4"};
    weights.families = {"bert"};
    weights.sources = {{"here", 12}};
    weights.held_out = {{"gpu", 12, 9.5, 8.25, 20.0}};
    return weights;
}

std::string without_line(const std::string& text, const std::string& head) {
    std::string out;
    for (const std::string& line : split(text, '\n'))
        if (!line.starts_with(head)) out += line + "\n";
    return out;
}

}  // namespace

TEST_CASE("constants come back from the file they were written to", "[step_weights]") {
    const StepWeights weights = some_weights();
    const auto read = parse_step_weights(write_step_weights(weights), "steps.toml");
    REQUIRE(read);
    // Six digits after the point of a logarithm's argument.
    for (std::size_t i = 0; i < constant_count; ++i)
        CHECK_THAT(read->coefficients[i], WithinAbs(weights.coefficients[i], 1e-5));
    CHECK(read->deviations[3] == 0.0125);
    CHECK(read->deviations[0] == prior_deviations()[0]);
    CHECK(read->gpus == weights.gpus);
    CHECK(read->families == weights.families);
    CHECK(read->spread.unseen_gpu_log_sd == 0.15);
    REQUIRE(read->held_out.size() == 1);
    CHECK(read->held_out[0].median_ape_pct == 8.25);
}

TEST_CASE("a missing, unknown or impossible constant is an error that names it", "[step_weights]") {
    const std::string text = write_step_weights(some_weights());
    const auto missing = parse_step_weights(without_line(text, "bmm_simt ="), "steps.toml");
    REQUIRE_FALSE(missing);
    CHECK_THAT(missing.error().message, Contains("bmm_simt"));
    CHECK_FALSE(parse_step_weights(without_line(text, "nvlink ="), "steps.toml"));
    std::string broken = text;
    broken.replace(broken.find("bmm_simt = "), 11, "bmm_simt = -");
    CHECK_FALSE(parse_step_weights(broken, "steps.toml"));
    broken = text;
    broken.replace(broken.find("bmm_simt"), 8, "bmm_sint");
    CHECK_FALSE(parse_step_weights(broken, "steps.toml"));
    const auto newer = parse_step_weights("schema = 99\n", "steps.toml");
    REQUIRE_FALSE(newer);
    CHECK_THAT(newer.error().message, Contains("schema 99"));
}

TEST_CASE("a directory without constants gives the priors", "[step_weights]") {
    const ScratchFolder folder;
    const auto read = read_step_weights(folder.path(""));
    REQUIRE(read);
    CHECK(read->coefficients == prior_coefficients());
    folder.write(step_weights_file, "schema = \"one\"\n");
    CHECK_FALSE(read_step_weights(folder.path("")));
}
