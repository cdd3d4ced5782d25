// SPDX-License-Identifier: GPL-2.0-or-later
// Training on whole models beside single operators.
#include "predictor/torch/fit.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace dlcast;

namespace {

// 256 calls whose memory bound grows from 1 to 10 ms, measured at 1.5 times it.
struct Operators {
    static constexpr int columns = 2, rows = 256;
    std::vector<float> features, physics, log_time, weight = std::vector<float>(rows, 1.0f);
    std::vector<std::int32_t> zeros = std::vector<std::int32_t>(rows, 0), unnamed = std::vector<std::int32_t>(rows, -1);

    Operators() {
        for (int i = 0; i < rows; ++i) {
            const float bound = std::log(1e-3f) + std::log(10.0f) * static_cast<float>(i) / rows;
            features.insert(features.end(), {bound, static_cast<float>(i % 7)});
            physics.insert(physics.end(), {-20.0f, bound, 0.0f, 0.0f, 0.0f, 0.0f});
            log_time.push_back(bound + std::log(1.5f));
        }
    }
    dlcast_torch_table table() const {
        dlcast_torch_table t{};
        t.rows = rows;
        t.columns = columns;
        t.features = features.data();
        t.physics = physics.data();
        t.launch = t.optimizer = zeros.data();
        t.group = unnamed.data();
        t.log_time = log_time.data();
        t.weight = weight.data();
        return t;
    }
};

double predicted_sum_s(const NetParameters& net, const dlcast_torch_table& table) {
    const at::NoGradGuard no_grad;
    const Rows rows = rows_of(table);
    return predict(net, rows, standardise(net, rows.features), known_groups(rows)).log_time.exp().sum().item<double>();
}

}  // namespace

TEST_CASE("whole models pull the sum of their operators towards what was measured", "[torch]") {
    const Operators operators;
    const std::vector<std::int32_t> figure(Operators::columns, 0);
    const std::vector<float> noise(Operators::columns, 0.0f);
    dlcast_torch_fit_options options{};
    options.batch = 64;
    options.learning_rate = 4e-3f;
    options.launch_slots = options.optimizer_slots = 1;
    for (auto& net : options.nets) net = {64, 20, 1, -0.3f, 0.1f, 1, figure.data(), noise.data()};
    const dlcast_torch_table tables[DLCAST_TORCH_NETS] = {{}, {}, operators.table()};
    Member member;
    for (std::size_t n = 0; n < member.size(); ++n)
        member[n] = fit(tables[n], options, options.nets[n], n, [](double) {});
    const double alone_s = predicted_sum_s(member[2], tables[2]);

    // The whole took 10 % longer than its operators one by one.
    dlcast_torch_sums sums{};
    const std::vector<std::int32_t> sum(Operators::rows, 0);
    const std::vector<float> count(Operators::rows, 1.0f);
    const float log_time = static_cast<float>(std::log(1.1 * alone_s)), other_s = 0.0f;
    sums.sums = 1;
    sums.log_time = &log_time;
    sums.other_s = &other_s;
    sums.tables[2] = tables[2];
    sums.sum[2] = sum.data();
    sums.count[2] = count.data();
    fit_sums(member, tables, sums, options, 7);
    const double together_s = predicted_sum_s(member[2], tables[2]);
    CHECK(together_s > 1.005 * alone_s);  // moved
    CHECK(together_s < 1.1 * alone_s);    // but the operators hold it
}
