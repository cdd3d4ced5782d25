// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/cluster_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

bool same(const std::string& a, const std::string& b) { return to_lower(a) == to_lower(b); }

bool contains(const std::vector<std::string>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& item) { return same(item, name); });
}

const Qos* find_qos(const Cluster& cluster, const std::string& name) {
    if (name.empty()) return nullptr;
    const auto found =
        std::find_if(cluster.qos.begin(), cluster.qos.end(), [&](const Qos& qos) { return same(qos.name, name); });
    return found == cluster.qos.end() ? nullptr : &*found;
}

// The user's own row before the account's, a row for this partition before one for all.
const Association* find_association(const Cluster& cluster, const Submitter& who, const std::string& partition) {
    const Association* best = nullptr;
    int best_rank = 0;
    for (const Association& row : cluster.associations) {
        if (!same(row.account, who.account) || (!row.user.empty() && row.user != who.user)) continue;
        if (!row.partition.empty() && row.partition != partition) continue;
        const int rank = 1 + (row.user.empty() ? 0 : 2) + (row.partition.empty() ? 0 : 1);
        if (rank <= best_rank) continue;
        best = &row;
        best_rank = rank;
    }
    return best;
}

TimeCap max_wall(const Cluster& cluster, const Partition& partition, const Submitter& who) {
    const Qos* of_partition = find_qos(cluster, partition.qos);
    const Qos* of_job = find_qos(cluster, who.qos);
    std::array<const Qos*, 2> order{of_partition, of_job};
    if (of_job && of_job->over_partition_qos) std::swap(order[0], order[1]);
    for (const Qos* qos : order)
        if (qos && qos->max_time_min >= 0)
            return {qos->max_time_min, fmt::format("QOS {} MaxWall", qos->name), "QOS's MaxWall"};
    const Association* row = who.account.empty() ? nullptr : find_association(cluster, who, partition.name);
    if (!row || row->max_time_min < 0) return {};
    return {row->max_time_min,
            row->user.empty() ? fmt::format("account {} MaxWall", row->account)
                              : fmt::format("MaxWall of {} in account {}", row->user, row->account),
            "account's MaxWall"};
}

}  // namespace

Submitter submitter_of(const Cluster& cluster, std::uint32_t uid, const std::string& account, const std::string& qos) {
    Submitter out{uid, "", account, qos};
    const auto user =
        std::find_if(cluster.users.begin(), cluster.users.end(), [&](const User& u) { return u.uid == uid; });
    if (user != cluster.users.end()) {
        out.user = user->name;
        if (out.account.empty()) out.account = user->default_account;
    }
    if (!out.qos.empty() || out.account.empty()) return out;
    if (const Association* row = find_association(cluster, out, "")) out.qos = row->default_qos;
    return out;
}

TimeCap time_cap(const Cluster& cluster, const Partition& partition, const Submitter& who) {
    TimeCap out = max_wall(cluster, partition, who);
    const Qos* of_job = find_qos(cluster, who.qos);
    const bool counts = partition.max_time_min >= 0 && !(of_job && of_job->over_partition_time);
    if (counts && (out.minutes < 0 || partition.max_time_min <= out.minutes))
        out = {partition.max_time_min, fmt::format("partition {} MaxTime", partition.name), "partition's MaxTime"};
    return out;
}

std::string closed_to(const Partition& partition, const Submitter& who) {
    if (!partition.up) return "is down";
    if (!partition.allow_accounts.empty() && !contains(partition.allow_accounts, who.account))
        return "admits other accounts only";
    if (contains(partition.deny_accounts, who.account)) return "denies the account";
    if (!partition.allow_qos.empty() && !contains(partition.allow_qos, who.qos)) return "admits other QOS only";
    if (contains(partition.deny_qos, who.qos)) return "denies the QOS";
    if (partition.allow_groups.empty() || who.uid == 0) return "";
    return std::binary_search(partition.allow_uids.begin(), partition.allow_uids.end(), who.uid)
               ? ""
               : "admits certain groups only";
}

}  // namespace dlcast
