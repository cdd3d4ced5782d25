// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/cluster_limits.h"

#include <catch2/catch.hpp>

using namespace dlcast;

namespace {

// Partition a100 ends jobs after a day, its QOS "part" after 12 h where it is set; QOS "long" allows two days.
Cluster site() {
    Cluster out;
    Partition a100;
    a100.name = "a100";
    a100.max_time_min = 1440;
    out.partitions = {a100};
    out.qos = {{"part", 720}, {"long", 2880}, {"normal", -1}};
    out.users = {{1001, "ada", "vision"}, {1002, "bob", "vision"}};
    out.associations = {
        {"vision", "", "", 600, "normal"}, {"vision", "bob", "", 300, "long"}, {"vision", "bob", "a100", 200, "long"}};
    return out;
}
TimeCap cap(const Cluster& cluster, const std::string& qos, std::uint32_t uid = 0, const std::string& account = "") {
    return time_cap(cluster, cluster.partitions.front(), submitter_of(cluster, uid, account, qos));
}

}  // namespace

TEST_CASE("the limit that binds is named", "[limits]") {
    Cluster cluster = site();
    CHECK(cap(cluster, "").name == "partition a100 MaxTime");
    CHECK(cap(cluster, "").minutes == 1440);
    CHECK(cap(cluster, "long").name == "partition a100 MaxTime");
    cluster.partitions.front().qos = "part";
    CHECK(cap(cluster, "long").name == "QOS part MaxWall");
    CHECK(cap(cluster, "long").minutes == 720);
    CHECK(cap(cluster, "long").in_short == "QOS's MaxWall");
}

TEST_CASE("a job's QOS goes before its partition's where it has the flag", "[limits]") {
    Cluster cluster = site();
    cluster.partitions.front().qos = "part";
    cluster.qos[1].over_partition_qos = true;
    CHECK(cap(cluster, "long").minutes == 1440);  // 2880 of the QOS, the partition is shorter
    cluster.qos[1].over_partition_time = true;
    CHECK(cap(cluster, "long").minutes == 2880);
    CHECK(cap(cluster, "LONG").name == "QOS long MaxWall");
}

TEST_CASE("an account's limit counts where no QOS has one, the user's own before it", "[limits]") {
    const Cluster cluster = site();
    CHECK(cap(cluster, "normal", 1001).minutes == 600);
    CHECK(cap(cluster, "normal", 1001).name == "account vision MaxWall");
    CHECK(cap(cluster, "normal", 1002).minutes == 200);  // for this partition
    CHECK(cap(cluster, "normal", 1002).name == "MaxWall of bob in account vision");
    CHECK(cap(cluster, "long", 1001).minutes == 1440);  // the QOS has a limit, so the account's is not looked at
    CHECK(cap(cluster, "normal", 0, "vision").minutes == 600);
    CHECK(cap(cluster, "normal", 0, "other").minutes == 1440);
}

TEST_CASE("who says neither account nor QOS has the user's defaults", "[limits]") {
    const Cluster cluster = site();
    const Submitter bob = submitter_of(cluster, 1002, "", "");
    CHECK(bob.user == "bob");
    CHECK(bob.account == "vision");
    CHECK(bob.qos == "long");
    CHECK(submitter_of(cluster, 1001, "", "").qos == "normal");
    CHECK(submitter_of(cluster, 9999, "", "").account.empty());
}

TEST_CASE("a partition for groups admits their members and root", "[limits]") {
    Partition partition;
    partition.allow_groups = {"staff"};
    partition.allow_uids = {1001, 1005};
    CHECK(closed_to(partition, {1001, "", "", ""}).empty());
    CHECK(closed_to(partition, {0, "", "", ""}).empty());
    CHECK(closed_to(partition, {1002, "", "", ""}) == "admits certain groups only");
}
