// SPDX-License-Identifier: GPL-2.0-or-later
// Training: of one network on single operators, then of all of a member on operators and whole models together.
#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include "predictor/torch/network.h"

namespace dlcast {

/// Absolute, quadratic inside 0.05.
at::Tensor robust_error(const at::Tensor& error);

/// The loss on one batch of rows after another, in random order, their GPUs' figures disturbed and some of their groups
/// hidden. `table` and `random` outlive it.
class RowSampler {
public:
    RowSampler(const NetParameters& net, const dlcast_torch_table& table, const dlcast_torch_fit_options& options,
               const dlcast_torch_net_options& net_options, at::Generator& random);
    /// In one epoch.
    std::int64_t batches() const;
    at::Tensor next_loss(const NetParameters& net);

private:
    Rows rows_;
    at::Tensor standardised_, log_time_, weight_, noise_, order_;
    std::int64_t batch_, next_ = 0;
    double group_dropout_;
    at::Generator& random_;
};

/// Trains from nothing.
NetParameters fit(const dlcast_torch_table& table, const dlcast_torch_fit_options& options,
                  const dlcast_torch_net_options& net, std::uint64_t seed, const std::function<void(double)>& progress);

/// Goes on with the networks of a member that sums consist of, at a low rate, on batches of operators and all sums
/// together:
///     loss = robust error of log time over operators + sum_weight x robust error of log(sum of count x time) over sums
void fit_sums(Member& member, const dlcast_torch_table* tables, const dlcast_torch_sums& sums,
              const dlcast_torch_fit_options& options, std::uint64_t seed);

}  // namespace dlcast
