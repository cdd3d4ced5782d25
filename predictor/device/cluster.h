// SPDX-License-Identifier: GPL-2.0-or-later
// What the site has: partitions, their nodes and GPUs, limits, and the links between GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/reader.h"
#include "predictor/base/result.h"
#include "predictor/device/device.h"

namespace dlcast {

/// The latency-bandwidth (alpha-beta) view of one hop.
struct Link {
    double latency_s = 0.0;      // alpha: start-up time of one message
    double bandwidth_Bps = 0.0;  // beta: bytes per second one rank can send
    std::string kind{};          // of a network: IB, RoCE, EFA, ... where it is known
    bool operator==(const Link&) const = default;
};

/// Stands for the GRES type of GPUs whose type Slurm was not told (Gres=gpu:4); a site says what they are in
/// [gpu_names].
constexpr const char* untyped_gpu = "gpu";

/// The name under which a site says in [gpu_names] which device of its catalog a node's CPUs are; without it a job that
/// asks for no GPU gets no forecast.
constexpr const char* cpu_device = "cpu";

/// Nodes of one kind inside a partition.
struct NodeGroup {
    std::string gpu;  // GRES type as the site writes it (a100); empty: no GPU
    int gpus_per_node = 0;
    int nodes = 0;
    int cpus_per_node = 0;
    double memory_bytes = 0.0;
    std::vector<std::string> features;  // node features, for --constraint
};

struct Partition {
    std::string name;
    std::vector<NodeGroup> groups;
    std::int64_t max_time_min = -1;      // -1: no limit
    std::int64_t default_time_min = -1;  // -1: none set
    int max_nodes = -1;                  // of one job; -1: no limit
    bool up = true;
    bool is_default = false;
    std::vector<std::string> allow_accounts, deny_accounts;  // empty: everybody
    std::vector<std::string> allow_qos, deny_qos;
    std::vector<std::string> allow_groups;
    std::vector<std::uint32_t> allow_uids;  // members of these groups, ascending
    std::string qos;                        // partition QOS
    std::string tres_billing_weights;       // as Slurm prints it
};

/// A quality of service and its longest run time (MaxWall).
struct Qos {
    std::string name;
    std::int64_t max_time_min = -1;    // -1: no limit
    bool over_partition_qos = false;   // its limits go before those of the partition's QOS (flag OverPartQOS)
    bool over_partition_time = false;  // a partition's MaxTime does not bind it (flag PartitionTimeLimit)
};

/// A user of the accounting. The controller looks up no names, so uids stand beside them.
struct User {
    std::uint32_t uid = 0;
    std::string name, default_account;
};

/// Limits of an account, or of one user in it, in one partition or (empty) all.
struct Association {
    std::string account, user, partition;
    std::int64_t max_time_min = -1;  // MaxWall; -1: no limit
    std::string default_qos;
};

/// An account and the one above it, of those that have a budget or are below one that has.
struct Account {
    std::string name, parent;  // no parent: the root
};

/// GPU-hours that an account may use, with all accounts below it, or one user in it, in one partition or (empty) all
/// (GrpTRESMins of gres/gpu), and what was gone of them when the file was written.
struct GpuBudget {
    std::string account, user, partition;
    std::string gpu;  // GRES type; empty: all
    double limit_gpu_h = 0.0, used_gpu_h = 0.0;
    // What running jobs have left and pending ones promise: medians of forecasts, else their limits.
    double running_gpu_h = 0.0, pending_gpu_h = 0.0;
    double free_gpu_h() const { return limit_gpu_h - used_gpu_h - running_gpu_h - pending_gpu_h; }
};

struct Cluster {
    std::string name;
    std::int64_t synced_at_s = 0;  // seconds since the epoch; 0: written by hand
    std::string slurm_version;
    std::vector<Partition> partitions;
    std::vector<Qos> qos;
    std::vector<User> users;
    std::vector<Association> associations;
    std::vector<Account> accounts;
    std::vector<GpuBudget> budgets;
    // SchedulerParameters has time_min_as_soft_limit: --time-min plans, --time kills (Slurm >= 23.11).
    bool soft_time_limit = false;

    const Partition* find(std::string_view partition) const;
    const Partition* default_partition() const;
};

/// Where a job would run.
struct Allocation {
    std::string partition;
    Device device;
    int nodes = 1;
    int gpus_per_node = 1;
    Link intra_node;  // between GPUs of one node
    Link inter_node;  // between nodes, per GPU
    int world_size() const { return nodes * gpus_per_node; }
};

/// Reads the cluster file (TOML, written by `dlcast sync` or by hand). Errors carry line and column and the nearest
/// known key.
Result<Cluster> parse_cluster(std::string_view text, const std::string& source);
std::string write_cluster(const Cluster& cluster);

/// The same with every fault at once.
Checked<Cluster> check_cluster(std::string_view text, const std::string& source);

/// What is wrong with TRESBillingWeights ("CPU=1.0,GRES/gpu=2.0"); empty: nothing.
std::string billing_fault(std::string_view weights);

/// The link between the GPUs of one node, by the kind the catalog names for the device ("nvlink3", "pcie4"); PCIe 4
/// where the catalog names none.
Link intra_node_link(const Device& device);
/// Effective latency and bandwidth of one rank over a kind of link; nothing for an unknown kind.
std::optional<Link> link_named(std::string_view kind);
std::vector<std::string> link_names();

}  // namespace dlcast
