// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/sampling/matrix.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dlcast;
using Catch::Matchers::WithinRel;

// [4 2; 2 3] = L L' with L = [2 0; 1 sqrt 2]: 2*2 = 4, 2*1 = 2, 1*1 + 2 = 3. Determinant 4*3 - 2*2 = 8.
TEST_CASE("a Cholesky factor times its transpose is the matrix", "[sampling]") {
    Matrix a(2, 2);
    a.data = {4, 2, 2, 3};
    REQUIRE(cholesky(a));
    CHECK_THAT(a(0, 0), WithinRel(2.0, 1e-15));
    CHECK_THAT(a(1, 0), WithinRel(1.0, 1e-15));
    CHECK_THAT(a(1, 1), WithinRel(std::sqrt(2.0), 1e-15));
    CHECK_THAT(cholesky_log_determinant(a), WithinRel(std::log(8.0), 1e-14));
    // 4*1 + 2*2 = 8, 2*1 + 3*2 = 8
    const auto x = cholesky_solve(a, {8, 8});
    CHECK_THAT(x[0], WithinRel(1.0, 1e-14));
    CHECK_THAT(x[1], WithinRel(2.0, 1e-14));
}

// Eigenvalues of [1 2; 2 1] are 3 and -1.
TEST_CASE("a matrix that is not positive definite has no Cholesky factor", "[sampling]") {
    Matrix a(2, 2);
    a.data = {1, 2, 2, 1};
    CHECK_FALSE(cholesky(a));
}

// One column of ones, y = 1, 3: w = (1 + 3) / (2 + 2) with a ridge of 2.
TEST_CASE("a ridge pulls a mean towards zero", "[sampling]") {
    const auto w = ridge_regression(Matrix(2, 1, 1.0), {1, 3}, 2.0);
    REQUIRE(w.size() == 1);
    CHECK_THAT(w[0], WithinRel(1.0, 1e-14));
}

TEST_CASE("a sum of products holds for lengths that are no multiple of four", "[sampling]") {
    const std::vector<double> a{1, 2, 3, 4, 5, 6, 7};
    CHECK(dot(a.data(), a.data(), 7) == 140.0);  // 1 + 4 + 9 + 16 + 25 + 36 + 49
    CHECK(dot(a.data(), a.data(), 3) == 14.0);
}
