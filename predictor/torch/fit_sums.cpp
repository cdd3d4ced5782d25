// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "predictor/torch/fit.h"
#include "predictor/torch/optimizer.h"

namespace dlcast {
namespace {

// Steps, their first rate against that of the operators alone, and what a sum counts against an operator. Sums are few:
// more steps or weight would learn their rows by heart. Chosen by the error on models of other GPUs.
constexpr int steps = 200;
constexpr double first_rate = 0.1, sum_weight = 0.3;

// One network on its own operators, and its rows among the sums.
struct Learner {
    NetParameters& net;
    RowSampler sampler;
    NetOptimizer optimizer;
    Rows rows;
    at::Tensor standardised, known, sum, count;
};

at::Tensor view_of(const float* data, std::int64_t size) {
    return at::from_blob(const_cast<float*>(data), {size}, at::kFloat);
}

}  // namespace

void fit_sums(Member& member, const dlcast_torch_table* tables, const dlcast_torch_sums& sums,
              const dlcast_torch_fit_options& options, std::uint64_t seed) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    std::vector<std::unique_ptr<Learner>> learners;
    for (std::size_t n = 0; n < member.size(); ++n) {
        const dlcast_torch_table& table = sums.tables[n];
        if (table.rows == 0 || tables[n].rows == 0) continue;
        const Rows rows = rows_of(table);
        const at::Tensor sum = at::from_blob(const_cast<std::int32_t*>(sums.sum[n]), {table.rows}, at::kInt);
        TORCH_CHECK(sum.min().item<int>() >= 0 && sum.max().item<int>() < sums.sums, "a sum is out of range");
        learners.push_back(std::make_unique<Learner>(
            Learner{member[n], RowSampler(member[n], tables[n], options, options.nets[n], random),
                    NetOptimizer(member[n], options.nets[n].weight_decay), rows, standardise(member[n], rows.features),
                    known_groups(rows), sum, view_of(sums.count[n], table.rows)}));
    }
    const at::Tensor log_time = view_of(sums.log_time, sums.sums), other = view_of(sums.other_s, sums.sums);
    for (int step = 0; step < steps; ++step) {
        at::Tensor total = other, loss = at::zeros({});
        for (const auto& l : learners) {
            const Prediction p = predict(l->net, l->rows, l->standardised, l->known);
            total = at::index_add(total, 0, l->sum, p.log_time.exp() * l->count);
            loss = loss + l->sampler.next_loss(l->net);
        }
        loss = loss + sum_weight * robust_error(total.log() - log_time).mean();
        loss.backward();
        const double rate =
            first_rate * options.learning_rate * 0.5 * (1.0 + std::cos(std::numbers::pi * step / steps));
        for (const auto& l : learners) l->optimizer.step(rate);
    }
    for (NetParameters& net : member) net.each([](const char*, at::Tensor& t, bool) { t = t.detach(); });
}

}  // namespace dlcast
