// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "predictor/device/cluster.h"

namespace dlcast {
namespace {

using Strings = std::vector<std::string>;

// A TOML basic string.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\u{:04X}", byte);
        else
            out += c;
    }
    return out + '"';
}

void put_list(std::string& out, const char* key, const Strings& values) {
    if (values.empty()) return;
    Strings parts;
    for (const std::string& value : values) parts.push_back(quoted(value));
    out += fmt::format("{} = [{}]\n", key, fmt::join(parts, ", "));
}

void put_text(std::string& out, const char* key, const std::string& value) {
    if (!value.empty()) out += fmt::format("{} = {}\n", key, quoted(value));
}

void put_count(std::string& out, const char* key, std::int64_t value) {
    if (value >= 0) out += fmt::format("{} = {}\n", key, value);
}

}  // namespace

std::string write_cluster(const Cluster& cluster) {
    std::string out =
        "# Partitions, nodes and limits, as Slurm had them. `dlcast sync` writes this file anew.\n\n[cluster]\n";
    put_text(out, "name", cluster.name);
    put_text(out, "slurm_version", cluster.slurm_version);
    put_count(out, "synced_at_s", cluster.synced_at_s);
    if (cluster.soft_time_limit) out += "soft_time_limit = true\n";
    for (const Partition& p : cluster.partitions) {
        out += "\n[[partition]]\n";
        put_text(out, "name", p.name);
        if (p.is_default) out += "default = true\n";
        if (!p.up) out += "up = false\n";
        put_count(out, "max_time_min", p.max_time_min);
        put_count(out, "default_time_min", p.default_time_min);
        put_count(out, "max_nodes", p.max_nodes);
        put_list(out, "allow_accounts", p.allow_accounts);
        put_list(out, "deny_accounts", p.deny_accounts);
        put_list(out, "allow_qos", p.allow_qos);
        put_list(out, "deny_qos", p.deny_qos);
        put_list(out, "allow_groups", p.allow_groups);
        if (!p.allow_uids.empty()) out += fmt::format("allow_uids = [{}]\n", fmt::join(p.allow_uids, ", "));
        put_text(out, "qos", p.qos);
        put_text(out, "tres_billing_weights", p.tres_billing_weights);
        for (const NodeGroup& g : p.groups) {
            out += "\n[[partition.nodes]]\n";
            put_text(out, "gpu", g.gpu);
            if (g.gpus_per_node > 0) put_count(out, "gpus_per_node", g.gpus_per_node);
            put_count(out, "nodes", g.nodes);
            if (g.cpus_per_node > 0) put_count(out, "cpus_per_node", g.cpus_per_node);
            if (g.memory_bytes > 0) out += fmt::format("memory_bytes = {:.0f}\n", g.memory_bytes);
            put_list(out, "features", g.features);
        }
    }
    for (const Qos& q : cluster.qos) {
        out += "\n[[qos]]\n";
        put_text(out, "name", q.name);
        put_count(out, "max_time_min", q.max_time_min);
        if (q.over_partition_qos) out += "over_partition_qos = true\n";
        if (q.over_partition_time) out += "over_partition_time = true\n";
    }
    for (const User& u : cluster.users) {
        out += fmt::format("\n[[user]]\nuid = {}\n", u.uid);
        put_text(out, "name", u.name);
        put_text(out, "default_account", u.default_account);
    }
    for (const Association& a : cluster.associations) {
        out += "\n[[association]]\n";
        put_text(out, "account", a.account);
        put_text(out, "user", a.user);
        put_text(out, "partition", a.partition);
        put_count(out, "max_time_min", a.max_time_min);
        put_text(out, "default_qos", a.default_qos);
    }
    for (const Account& a : cluster.accounts) {
        out += "\n[[account]]\n";
        put_text(out, "name", a.name);
        put_text(out, "parent", a.parent);
    }
    for (const GpuBudget& b : cluster.budgets) {
        out += "\n[[budget]]\n";
        put_text(out, "account", b.account);
        put_text(out, "user", b.user);
        put_text(out, "partition", b.partition);
        put_text(out, "gpu", b.gpu);
        out +=
            fmt::format("limit_gpu_h = {:.4f}\nused_gpu_h = {:.4f}\nrunning_gpu_h = {:.4f}\npending_gpu_h = {:.4f}\n",
                        b.limit_gpu_h, b.used_gpu_h, b.running_gpu_h, b.pending_gpu_h);
    }
    return out;
}

}  // namespace dlcast
