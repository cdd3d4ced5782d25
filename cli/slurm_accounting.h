// SPDX-License-Identifier: GPL-2.0-or-later
// Users, accounts and QOS as sacctmgr prints them, and the uids behind names: the controller looks up neither.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/device/cluster.h"

namespace dlcast {

/// How names become uids: the system's, or a test's.
struct NameService {
    std::function<std::optional<std::uint32_t>(const std::string& user)> uid_of;
    /// Ascending; by membership and as primary group.
    std::function<std::vector<std::uint32_t>(const std::string& group)> uids_in;
};
NameService system_names();

/// Rows of `sacctmgr --parsable2` by their header: each cell is found by its column's name, the order aside.
std::vector<Qos> qos_of(std::string_view table);
/// Those that say more than the row they inherit from: an account's row with a limit or a default QOS, and rows of
/// users and partitions that differ from their account's.
std::vector<Association> associations_of(std::string_view table);
/// Those whose uid is known.
std::vector<User> users_of(std::string_view table, const NameService& names);

}  // namespace dlcast
