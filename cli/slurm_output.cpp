// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/slurm_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/synced_budgets.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

using Record = std::map<std::string, std::string>;
constexpr double mebi = 1 << 20;

std::string field(const Record& record, const char* key) {
    const auto found = record.find(key);
    return found == record.end() ? "" : found->second;
}

// Slurm's words for "no value".
bool is_nothing(const std::string& text) {
    return text.empty() || text == "(null)" || text == "N/A" || text == "NONE" || text == "None";
}

std::string text_or_empty(const std::string& text) { return is_nothing(text) ? "" : text; }

std::vector<std::string> list(const std::string& text) {
    std::vector<std::string> out;
    if (is_nothing(text) || text == "ALL") return out;
    for (const std::string& item : split(text, ','))
        if (!item.empty()) out.push_back(item);
    return out;
}

int small_count(const std::string& text, int absent) {
    const auto number = parse_integer(text);
    return number && *number <= std::numeric_limits<int>::max() ? static_cast<int>(*number) : absent;
}

// What no cluster file can hold: it must not keep the rest out of it.
void leave_out_oddities(Partition& partition, std::vector<std::string>& warnings) {
    if (const std::string fault = billing_fault(partition.tres_billing_weights); !fault.empty()) {
        warnings.push_back(fmt::format("partition {}: TRESBillingWeights are left out: {}", partition.name, fault));
        partition.tres_billing_weights.clear();
    }
    if (partition.max_nodes != 0) return;
    warnings.push_back(
        fmt::format("partition {}: MaxNodes=0 lets no job start; it is written as down", partition.name));
    partition.max_nodes = -1;
    partition.up = false;
}

Result<Partition> partition_of(const Record& record) {
    Partition out;
    out.name = field(record, "PartitionName");
    for (const char* key : {"MaxTime", "DefaultTime", "State", "Nodes"})
        if (record.count(key) == 0)
            return invalid_argument(
                fmt::format("partition {}: Slurm printed no {}; was its output cut off?", out.name, key));
    const auto max_time = parse_slurm_minutes(field(record, "MaxTime"));
    const auto default_time = parse_slurm_minutes(field(record, "DefaultTime"));
    if (!max_time || !default_time)
        return invalid_argument(fmt::format("partition {}: MaxTime={} or DefaultTime={} is no time", out.name,
                                            field(record, "MaxTime"), field(record, "DefaultTime")));
    out.max_time_min = *max_time;
    out.default_time_min = *default_time;
    out.max_nodes = small_count(field(record, "MaxNodes"), -1);
    out.up = field(record, "State") == "UP";
    out.is_default = field(record, "Default") == "YES";
    out.allow_accounts = list(field(record, "AllowAccounts"));
    out.deny_accounts = list(field(record, "DenyAccounts"));
    out.allow_qos = list(field(record, "AllowQos"));
    out.deny_qos = list(field(record, "DenyQos"));
    out.allow_groups = list(field(record, "AllowGroups"));
    out.qos = text_or_empty(field(record, "QoS"));
    out.tres_billing_weights = text_or_empty(field(record, "TRESBillingWeights"));
    return out;
}

// One group for each type of GPU of the node; one without GPU where it has none.
std::vector<NodeGroup> groups_of(const Record& record) {
    NodeGroup node;
    node.nodes = 1;
    node.cpus_per_node = small_count(field(record, "CPUTot"), 0);
    // slurm.conf(5): RealMemory is 1 where it is not stated.
    const double memory_MiB = parse_number(field(record, "RealMemory")).value_or(0.0);
    if (memory_MiB > 1) node.memory_bytes = memory_MiB * mebi;
    node.features = list(field(record, "AvailableFeatures"));
    std::vector<NodeGroup> out;
    for (const auto& [type, count] : gpus_of_gres(field(record, "Gres"))) {
        out.push_back(node);
        out.back().gpu = type;
        out.back().gpus_per_node = count;
    }
    if (out.empty()) out.push_back(node);
    return out;
}

void add_group(Partition& partition, const NodeGroup& group) {
    for (NodeGroup& known : partition.groups) {
        if (known.gpu != group.gpu || known.gpus_per_node != group.gpus_per_node || known.features != group.features ||
            known.cpus_per_node != group.cpus_per_node || known.memory_bytes != group.memory_bytes)
            continue;
        known.nodes += group.nodes;
        return;
    }
    partition.groups.push_back(group);
}

// GPUs by type in "cpu=64,gres/gpu=8,gres/gpu:a100=6"; those of no named type under untyped_gpu.
std::map<std::string, std::int64_t> gpus_of_tres(const std::string& tres) {
    std::map<std::string, std::int64_t> out;
    for (const std::string& item : split(tres, ',')) {
        const auto equals = item.find('=');
        if (equals == std::string::npos) continue;
        const std::string resource = item.substr(0, equals);
        const std::int64_t count = std::min<std::int64_t>(parse_integer(item.substr(equals + 1)).value_or(0), 1 << 30);
        if (resource == "gres/gpu") out[untyped_gpu] += count;  // of all types
        if (!resource.starts_with("gres/gpu:")) continue;
        out[resource.substr(9)] += count;
        out[untyped_gpu] -= count;
    }
    return out;
}

// Nodes the partition has beyond the `shown` ones, spread evenly over what its totals leave.
void add_hidden_nodes(Partition& partition, const Record& record, int shown, std::vector<std::string>& warnings) {
    const int hidden = small_count(field(record, "TotalNodes"), 0) - shown;
    if (hidden <= 0) return;
    auto left = gpus_of_tres(field(record, "TRES"));
    for (const NodeGroup& group : partition.groups) {
        // A type that Slurm does not account for stands in the untyped rest.
        const std::string& pool = left.count(group.gpu) ? group.gpu : untyped_gpu;
        if (group.gpus_per_node > 0) left[pool] -= std::int64_t{group.gpus_per_node} * group.nodes;
    }
    NodeGroup node;
    node.nodes = hidden;
    bool has_gpu = false;
    for (const auto& [type, count] : left) {
        node.gpu = type;
        node.gpus_per_node = static_cast<int>(std::min<std::int64_t>(count / hidden, 1024));
        if (node.gpus_per_node < 1) continue;
        add_group(partition, node);
        has_gpu = true;
    }
    if (!has_gpu) {
        node.gpu.clear();
        node.gpus_per_node = 0;
        add_group(partition, node);
    }
    warnings.push_back(
        fmt::format("partition {}: {} nodes are not shown (powered down?) and taken from its totals; "
                    "PrivateData=cloud in slurm.conf shows them",
                    partition.name, hidden));
}

// The word counts from 23.11 on; before, --time-min shortens the time after which Slurm kills.
bool has_soft_limits(const std::string& version, std::string_view config) {
    const auto parts = split(version, '.');
    const auto year = parse_integer(parts.front());
    const auto month = parts.size() > 1 ? parse_integer(parts[1]) : std::nullopt;
    if (!year || !month || *year * 100 + *month < 2311) return false;
    return to_lower(config_value(config, "SchedulerParameters")).find("time_min_as_soft_limit") != std::string::npos;
}

// Of accounts and users what a limit or an admission depends on.
Status add_accounting(Cluster& out, const SlurmOutput& output, const NameService& names, std::int64_t now_s,
                      std::vector<std::string>& warnings) {
    out.qos = qos_of(output.qos);
    out.associations = associations_of(output.associations);
    const bool has_budgets = has_gpu_budgets(output.associations);
    if (has_budgets && !counts_use(output.config))
        warnings.emplace_back(
            "budgets of GPU-hours are left out: without PriorityType=priority/multifactor Slurm counts no use of them");
    if (has_budgets && counts_use(output.config))
        if (auto s = add_budgets(out, {output.associations, output.shares, output.queue}, now_s, warnings); !s)
            return s;
    bool asks_for_accounts = !out.associations.empty() || !out.budgets.empty();
    for (Partition& partition : out.partitions) {
        asks_for_accounts = asks_for_accounts || !partition.allow_accounts.empty() || !partition.deny_accounts.empty();
        for (const std::string& group : partition.allow_groups) {
            const auto uids = names.uids_in ? names.uids_in(group) : std::vector<std::uint32_t>{};
            if (uids.empty())
                warnings.push_back(fmt::format("partition {}: group {} has no known members", partition.name, group));
            partition.allow_uids.insert(partition.allow_uids.end(), uids.begin(), uids.end());
        }
        std::sort(partition.allow_uids.begin(), partition.allow_uids.end());
        partition.allow_uids.erase(std::unique(partition.allow_uids.begin(), partition.allow_uids.end()),
                                   partition.allow_uids.end());
    }
    if (asks_for_accounts) out.users = users_of(output.users, names);
    return ok();
}

}  // namespace

std::string config_value(std::string_view config, std::string_view key) {
    for (const std::string& line : split(config, '\n')) {
        const auto equals = line.find('=');
        if (equals != std::string::npos && trim(std::string_view(line).substr(0, equals)) == key)
            return text_or_empty(std::string(trim(std::string_view(line).substr(equals + 1))));
    }
    return "";
}

bool counts_use(std::string_view config) {
    const std::string type = config_value(config, "PriorityType");
    return type.empty() || type.ends_with("multifactor");
}

Result<Cluster> cluster_from_slurm(const SlurmOutput& output, std::vector<std::string>& warnings,
                                   const NameService& names, std::int64_t now_s) {
    for (const std::string* text : {&output.partitions, &output.nodes, &output.qos, &output.associations, &output.users,
                                    &output.shares, &output.queue})
        if (!text->empty() && text->back() != '\n')
            return invalid_argument("what Slurm printed ends inside a line; it was cut off");
    Cluster out;
    out.name = config_value(output.config, "ClusterName");
    out.slurm_version = config_value(output.config, "SLURM_VERSION");
    out.soft_time_limit = has_soft_limits(out.slurm_version, output.config);
    std::vector<Record> records;
    for (const std::string& line : split(output.partitions, '\n')) {
        Record record = slurm_record(line);
        if (field(record, "PartitionName").empty()) continue;
        auto partition = partition_of(record);
        if (!partition) return partition.error();
        leave_out_oddities(*partition, warnings);
        out.partitions.push_back(std::move(*partition));
        records.push_back(std::move(record));
    }
    if (out.partitions.empty())
        return invalid_argument("Slurm printed no partition; is this `scontrol show partition`?");

    std::vector<int> shown(out.partitions.size());
    for (const std::string& line : split(output.nodes, '\n')) {
        const Record node = slurm_record(line);
        if (field(node, "NodeName").empty() || field(node, "State").find("FUTURE") != std::string::npos) continue;
        const auto its = list(field(node, "Partitions"));
        for (std::size_t i = 0; i < out.partitions.size(); ++i) {
            if (std::find(its.begin(), its.end(), out.partitions[i].name) == its.end()) continue;
            for (const NodeGroup& group : groups_of(node)) add_group(out.partitions[i], group);
            ++shown[i];
        }
    }
    for (std::size_t i = 0; i < out.partitions.size(); ++i)
        add_hidden_nodes(out.partitions[i], records[i], shown[i], warnings);
    if (auto s = add_accounting(out, output, names, now_s, warnings); !s) return s.error();
    // Names that no file can hold (bytes that are not UTF-8, a partition twice) must not replace a file that works.
    if (auto read_back = parse_cluster(write_cluster(out), "the cluster file"); !read_back)
        return invalid_argument("what Slurm printed makes no cluster file: " + read_back.error().message);
    return out;
}

}  // namespace dlcast
