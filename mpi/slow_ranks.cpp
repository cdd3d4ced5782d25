// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/slow_ranks.h"

#include <algorithm>
#include <cmath>

namespace dlcast {
namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

}  // namespace

Speeds compare_ranks(const RankTimes& times, const std::vector<std::string>& hosts) {
    Speeds out;
    if (times.empty()) return out;
    std::vector<double> logs(hosts.size(), 0.0);
    for (const std::vector<double>& point : times) {
        const double usual = median(point);
        for (std::size_t r = 0; r < hosts.size(); ++r) logs[r] += std::log(point[r] / usual);
    }
    std::vector<double> node_logs;
    std::vector<int> node_ranks;
    for (std::size_t r = 0; r < hosts.size(); ++r) {
        const double log_mean = logs[r] / static_cast<double>(times.size());
        const double relative = std::exp(log_mean);
        out.ranks.push_back({static_cast<int>(r), hosts[r], relative, relative >= slow_from});
        const auto node =
            std::find_if(out.nodes.begin(), out.nodes.end(), [&](const NodeSpeed& n) { return n.host == hosts[r]; });
        const auto index = static_cast<std::size_t>(node - out.nodes.begin());
        if (node == out.nodes.end()) {
            out.nodes.push_back({hosts[r]});
            node_logs.push_back(0.0);
            node_ranks.push_back(0);
        }
        node_logs[index] += log_mean;
        ++node_ranks[index];
    }
    std::vector<double> relatives;
    for (std::size_t n = 0; n < out.nodes.size(); ++n) relatives.push_back(std::exp(node_logs[n] / node_ranks[n]));
    const double usual = median(relatives);
    for (std::size_t n = 0; n < out.nodes.size(); ++n) {
        out.nodes[n].relative = relatives[n] / usual;
        out.nodes[n].slow = out.nodes[n].relative >= slow_from;
    }
    return out;
}

}  // namespace dlcast
