// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/toml.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_minutes = 100LL * 366 * 24 * 60;  // a century
constexpr std::int64_t most_nodes = 10'000'000;
constexpr double most_gpu_h = 1e15;
constexpr std::int64_t most_uid = std::numeric_limits<std::uint32_t>::max();

using Strings = std::vector<std::string>;

// "0.25G" -> 0.25 Gi: a weight with Slurm's suffix.
std::optional<double> parse_weight(std::string_view text) {
    if (!text.empty() && std::string_view("kmgtpKMGTP").find(text.back()) != std::string_view::npos)
        text.remove_suffix(1);
    return parse_number(trim(text));
}

NodeGroup read_group(const Value& value, const std::string& source, const std::string& partition, Strings& faults) {
    ObjectReader r(value, source, fmt::format("nodes of partition {}", partition));
    NodeGroup out;
    out.gpu = r.string("gpu").value_or("");
    if (r.has("gpu") && trim(out.gpu).empty())
        r.fail("gpu",
               "gpu is empty; name the GRES type as gres.conf has it, gpu = \"a100\", or of nodes without GPUs leave "
               "gpu out");
    out.gpus_per_node = static_cast<int>(r.integer("gpus_per_node", out.gpu.empty() ? 0 : 1, 1024).value_or(0));
    out.nodes = static_cast<int>(r.integer("nodes", 0, most_nodes).value_or(0));
    out.cpus_per_node = static_cast<int>(r.integer("cpus_per_node", 0, 1'000'000).value_or(0));
    out.memory_bytes = r.number("memory_bytes", 0.0, 1e18).value_or(0.0);
    out.features = r.strings("features").value_or(Strings{});
    r.require("nodes", "add nodes = 1");
    if (!out.gpu.empty()) r.require("gpus_per_node", "add gpus_per_node = 4");
    if (out.gpus_per_node > 0) r.require("gpu", "add gpu = \"a100\", the GRES type of these GPUs");
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
    out.max_nodes = static_cast<int>(r.integer("max_nodes", 1, most_nodes).value_or(-1));
    out.allow_accounts = r.strings("allow_accounts").value_or(Strings{});
    out.deny_accounts = r.strings("deny_accounts").value_or(Strings{});
    out.allow_qos = r.strings("allow_qos").value_or(Strings{});
    out.deny_qos = r.strings("deny_qos").value_or(Strings{});
    out.allow_groups = r.strings("allow_groups").value_or(Strings{});
    for (const std::int64_t uid : r.integers("allow_uids", 0, most_uid).value_or(std::vector<std::int64_t>{}))
        out.allow_uids.push_back(static_cast<std::uint32_t>(uid));
    std::sort(out.allow_uids.begin(), out.allow_uids.end());
    out.qos = r.string("qos").value_or("");
    out.tres_billing_weights = r.string("tres_billing_weights").value_or("");
    if (const std::string fault = billing_fault(out.tres_billing_weights); !fault.empty())
        r.fail("tres_billing_weights", "tres_billing_weights: " + fault);
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
    out.over_partition_qos = r.boolean("over_partition_qos").value_or(false);
    out.over_partition_time = r.boolean("over_partition_time").value_or(false);
    r.require("name", "add name = \"normal\"");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

User read_user(const Value& value, const std::string& source, Strings& faults) {
    ObjectReader r(value, source, "user");
    User out;
    out.uid = static_cast<std::uint32_t>(r.integer("uid", 0, most_uid).value_or(0));
    out.name = r.string("name").value_or("");
    out.default_account = r.string("default_account").value_or("");
    r.require("uid", "add uid = 1000");
    r.require("name", "add name = \"ada\"");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

Association read_association(const Value& value, const std::string& source, Strings& faults) {
    ObjectReader r(value, source, "association");
    Association out;
    out.account = r.string("account").value_or("");
    out.user = r.string("user").value_or("");
    out.partition = r.string("partition").value_or("");
    out.max_time_min = r.integer("max_time_min", 0, most_minutes).value_or(-1);
    out.default_qos = r.string("default_qos").value_or("");
    r.require("account", "add account = \"physics\"");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

Account read_account(const Value& value, const std::string& source, Strings& faults) {
    ObjectReader r(value, source, "account");
    Account out;
    out.name = r.string("name").value_or("");
    out.parent = r.string("parent").value_or("");
    r.require("name", "add name = \"physics\"");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

GpuBudget read_budget(const Value& value, const std::string& source, Strings& faults) {
    ObjectReader r(value, source, "budget");
    GpuBudget out;
    out.account = r.string("account").value_or("");
    out.user = r.string("user").value_or("");
    out.partition = r.string("partition").value_or("");
    out.gpu = r.string("gpu").value_or("");
    out.limit_gpu_h = r.number("limit_gpu_h", 0.0, most_gpu_h).value_or(0.0);
    out.used_gpu_h = r.number("used_gpu_h", 0.0, most_gpu_h).value_or(0.0);
    out.running_gpu_h = r.number("running_gpu_h", 0.0, most_gpu_h).value_or(0.0);
    out.pending_gpu_h = r.number("pending_gpu_h", 0.0, most_gpu_h).value_or(0.0);
    r.require("account", "add account = \"physics\"");
    r.require("limit_gpu_h", "add limit_gpu_h = 1000");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

// Reads each table of a list ([[key]]).
template <typename Read>
void read_list(ObjectReader& r, const char* key, Read read) {
    const Value* list = r.value(key);
    if (!list) return;
    if (!list->is_array()) return r.fail(key, fmt::format("{} should be a list; write [[{}]]", key, key));
    for (const Value& value : list->as_array()) read(value);
}

Cluster read_cluster(const Value& root, const std::string& source, Strings& faults) {
    ObjectReader r(root, source, "cluster file");
    Cluster out;
    if (const Value* head = r.value("cluster")) {
        ObjectReader c(*head, source, "[cluster]");
        out.name = c.string("name").value_or("");
        out.slurm_version = c.string("slurm_version").value_or("");
        out.synced_at_s = c.integer("synced_at_s", 0).value_or(0);
        out.soft_time_limit = c.boolean("soft_time_limit").value_or(false);
        (void)c.finish();
        faults.insert(faults.end(), c.faults().begin(), c.faults().end());
    }
    std::set<std::string> seen;
    std::optional<std::string> first_default;  // Slurm has one
    read_list(r, "partition", [&](const Value& value) {
        out.partitions.push_back(read_partition(value, source, faults));
        const Partition& partition = out.partitions.back();
        const std::string& name = partition.name;
        if (!name.empty() && !seen.insert(name).second)
            faults.push_back(at_place(source, value.at, fmt::format("partition {} stands twice; keep one", name)));
        if (!partition.is_default) return;
        if (first_default)
            faults.push_back(
                at_place(source, value.find("default")->at,
                         fmt::format("partition {} is the default, as {} is already; keep one", name, *first_default)));
        else
            first_default = name;
    });
    read_list(r, "qos", [&](const Value& value) { out.qos.push_back(read_qos(value, source, faults)); });
    read_list(r, "user", [&](const Value& value) { out.users.push_back(read_user(value, source, faults)); });
    read_list(r, "association",
              [&](const Value& value) { out.associations.push_back(read_association(value, source, faults)); });
    read_list(r, "account", [&](const Value& value) { out.accounts.push_back(read_account(value, source, faults)); });
    read_list(r, "budget", [&](const Value& value) { out.budgets.push_back(read_budget(value, source, faults)); });
    r.require("partition", "add a [[partition]], or let `dlcast sync` write the file");
    (void)r.finish();
    faults.insert(faults.end(), r.faults().begin(), r.faults().end());
    return out;
}

}  // namespace

std::string billing_fault(std::string_view weights) {
    for (const std::string& part : split(weights, ',')) {
        const std::string item(trim(part));
        const auto equals = item.find('=');
        const auto weight =
            equals == std::string::npos ? std::nullopt : parse_weight(std::string_view(item).substr(equals + 1));
        if (!item.empty() && (!weight || *weight < 0))
            return fmt::format("\"{}\" should be a resource and a number from 0, as in GRES/gpu=2.0",
                               one_line(item, 60));
    }
    return "";
}

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

}  // namespace dlcast
