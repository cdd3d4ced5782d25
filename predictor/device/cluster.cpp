// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "predictor/base/reader.h"
#include "predictor/base/toml.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_minutes = 100LL * 366 * 24 * 60;  // a century
constexpr std::int64_t most_nodes = 10'000'000;

using Strings = std::vector<std::string>;

NodeGroup read_group(const Value& value, const std::string& source, const std::string& partition, Strings& faults) {
    ObjectReader r(value, source, fmt::format("nodes of partition {}", partition));
    NodeGroup out;
    out.gpu = r.string("gpu").value_or("");
    out.gpus_per_node = static_cast<int>(r.integer("gpus_per_node", out.gpu.empty() ? 0 : 1, 1024).value_or(0));
    out.nodes = static_cast<int>(r.integer("nodes", 0, most_nodes).value_or(0));
    out.cpus_per_node = static_cast<int>(r.integer("cpus_per_node", 0, 1'000'000).value_or(0));
    out.memory_bytes = r.number("memory_bytes", 0.0, 1e18).value_or(0.0);
    out.features = r.strings("features").value_or(Strings{});
    r.require("nodes", "add nodes = 1");
    if (!out.gpu.empty()) r.require("gpus_per_node", "add gpus_per_node = 4");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

Partition read_partition(const Value& value, const std::string& source, Strings& faults) {
    const Value* name = value.find("name");
    ObjectReader r(value, source,
                   name && name->is_string() ? fmt::format("partition {}", name->as_string()) : "partition");
    Partition out;
    out.name = r.string("name").value_or("");
    out.is_default = r.boolean("default").value_or(false);
    out.up = r.boolean("up").value_or(true);
    out.max_time_min = r.integer("max_time_min", 0, most_minutes).value_or(-1);
    out.default_time_min = r.integer("default_time_min", 0, most_minutes).value_or(-1);
    out.max_nodes = static_cast<int>(r.integer("max_nodes", 0, most_nodes).value_or(-1));
    out.allow_accounts = r.strings("allow_accounts").value_or(Strings{});
    out.deny_accounts = r.strings("deny_accounts").value_or(Strings{});
    out.allow_qos = r.strings("allow_qos").value_or(Strings{});
    out.deny_qos = r.strings("deny_qos").value_or(Strings{});
    out.allow_groups = r.strings("allow_groups").value_or(Strings{});
    out.qos = r.string("qos").value_or("");
    out.tres_billing_weights = r.string("tres_billing_weights").value_or("");
    if (const Value* groups = r.value("nodes")) {
        if (!groups->is_array()) r.fail("nodes", "nodes should be a list; write [[partition.nodes]]");
        if (groups->is_array())
            for (const Value& group : groups->as_array())
                out.groups.push_back(read_group(group, source, out.name, faults));
    }
    r.require("name", "add name = \"gpu\"");
    if (r.has("name") && out.name.empty()) r.fail("name", "a name needs letters");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

Qos read_qos(const Value& value, const std::string& source, Strings& faults) {
    ObjectReader r(value, source, "qos");
    Qos out;
    out.name = r.string("name").value_or("");
    out.max_time_min = r.integer("max_time_min", 0, most_minutes).value_or(-1);
    r.require("name", "add name = \"normal\"");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

Cluster read_cluster(const Value& root, const std::string& source, Strings& faults) {
    ObjectReader r(root, source, "cluster file");
    Cluster out;
    if (const Value* head = r.value("cluster")) {
        ObjectReader c(*head, source, "[cluster]");
        out.name = c.string("name").value_or("");
        out.slurm_version = c.string("slurm_version").value_or("");
        out.synced_at_s = c.integer("synced_at_s", 0).value_or(0);
        (void)c.finish();
        faults.insert(faults.end(), c.faults().begin(), c.faults().end());
    }
    std::set<std::string> seen;
    if (const Value* list = r.value("partition")) {
        if (!list->is_array()) r.fail("partition", "partition should be a list; write [[partition]]");
        if (list->is_array())
            for (const Value& value : list->as_array()) {
                out.partitions.push_back(read_partition(value, source, faults));
                const std::string& name = out.partitions.back().name;
                if (!name.empty() && !seen.insert(name).second)
                    faults.push_back(
                        at_place(source, value.at, fmt::format("partition {} stands twice; keep one", name)));
            }
    }
    if (const Value* list = r.value("qos")) {
        if (!list->is_array()) r.fail("qos", "qos should be a list; write [[qos]]");
        if (list->is_array())
            for (const Value& value : list->as_array()) out.qos.push_back(read_qos(value, source, faults));
    }
    r.require("partition", "add a [[partition]], or let `dlcast sync` write the file");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

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

const Partition* Cluster::find(std::string_view partition) const {
    const auto found =
        std::find_if(partitions.begin(), partitions.end(), [&](const Partition& p) { return p.name == partition; });
    return found == partitions.end() ? nullptr : &*found;
}

const Partition* Cluster::default_partition() const {
    const auto found =
        std::find_if(partitions.begin(), partitions.end(), [](const Partition& p) { return p.is_default; });
    return found == partitions.end() ? nullptr : &*found;
}

std::int64_t Cluster::max_time_min(const Partition& partition, std::string_view job_qos) const {
    std::int64_t out = partition.max_time_min;
    for (const Qos& q : qos) {
        const bool binds = q.name == job_qos || q.name == partition.qos;
        if (binds && q.max_time_min >= 0 && (out < 0 || q.max_time_min < out)) out = q.max_time_min;
    }
    return out;
}

Checked<Cluster> check_cluster(std::string_view text, const std::string& source) {
    const auto root = parse_toml(text, source);
    if (!root) return {{}, {root.error().message}};
    Checked<Cluster> out;
    out.value = read_cluster(*root, source, out.faults);
    return out;
}

Result<Cluster> parse_cluster(std::string_view text, const std::string& source) {
    return result_of(check_cluster(text, source));
}

std::string write_cluster(const Cluster& cluster) {
    std::string out =
        "# Partitions, nodes and limits, as Slurm had them. `dlcast sync` writes this file anew.\n\n[cluster]\n";
    put_text(out, "name", cluster.name);
    put_text(out, "slurm_version", cluster.slurm_version);
    put_count(out, "synced_at_s", cluster.synced_at_s);
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
    }
    return out;
}

}  // namespace dlcast
