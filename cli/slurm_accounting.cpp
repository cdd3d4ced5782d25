// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/slurm_accounting.h"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <map>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

/// A table with its header; a cell that is not there is empty.
class Table {
public:
    explicit Table(std::string_view text) {
        for (const std::string& line : split(text, '\n'))
            if (!trim(line).empty()) rows_.push_back(split(line, '|'));
        if (rows_.empty()) return;
        for (std::size_t i = 0; i < rows_.front().size(); ++i) columns_[squeeze(rows_.front()[i])] = i;
        rows_.erase(rows_.begin());
    }
    std::size_t size() const { return rows_.size(); }
    std::string cell(std::size_t row, const std::string& column) const {
        const auto found = columns_.find(column);
        if (found == columns_.end() || found->second >= rows_[row].size()) return "";
        return std::string(trim(rows_[row][found->second]));
    }
    std::int64_t minutes(std::size_t row, const std::string& column) const {
        const std::string text = cell(row, column);
        return text.empty() ? -1 : parse_slurm_minutes(text).value_or(-1);
    }

private:
    std::vector<std::vector<std::string>> rows_;
    std::map<std::string, std::size_t> columns_;
};

bool has_flag(const std::string& flags, const char* flag) {
    const auto list = split(flags, ',');
    return std::any_of(list.begin(), list.end(), [&](const std::string& f) { return squeeze(f) == squeeze(flag); });
}

}  // namespace

NameService system_names() {
    NameService out;
    out.uid_of = [](const std::string& user) -> std::optional<std::uint32_t> {
        const passwd* entry = ::getpwnam(user.c_str());
        if (!entry) return std::nullopt;
        return entry->pw_uid;
    };
    out.uids_in = [](const std::string& group) {
        std::vector<std::uint32_t> uids;
        const ::group* entry = ::getgrnam(group.c_str());
        if (!entry) return uids;
        const gid_t gid = entry->gr_gid;
        std::vector<std::string> members;
        for (char** name = entry->gr_mem; name && *name; ++name) members.emplace_back(*name);
        for (const std::string& name : members)
            if (const passwd* user = ::getpwnam(name.c_str())) uids.push_back(user->pw_uid);
        ::setpwent();
        while (const passwd* user = ::getpwent())
            if (user->pw_gid == gid) uids.push_back(user->pw_uid);
        ::endpwent();
        std::sort(uids.begin(), uids.end());
        uids.erase(std::unique(uids.begin(), uids.end()), uids.end());
        return uids;
    };
    return out;
}

std::vector<Qos> qos_of(std::string_view text) {
    const Table table(text);
    std::vector<Qos> out;
    for (std::size_t i = 0; i < table.size(); ++i) {
        Qos qos;
        qos.name = table.cell(i, "name");
        if (qos.name.empty()) continue;
        qos.max_time_min = table.minutes(i, "maxwall");
        const std::string flags = table.cell(i, "flags");
        qos.over_partition_qos = has_flag(flags, "OverPartQOS");
        qos.over_partition_time = has_flag(flags, "PartitionTimeLimit");
        out.push_back(std::move(qos));
    }
    return out;
}

std::vector<Association> associations_of(std::string_view text) {
    const Table table(text);
    std::vector<Association> rows;
    std::map<std::string, Association> accounts;
    for (std::size_t i = 0; i < table.size(); ++i) {
        Association row{table.cell(i, "account"), table.cell(i, "user"), table.cell(i, "partition"),
                        table.minutes(i, "maxwall"), table.cell(i, "defqos")};
        if (row.account.empty()) continue;
        if (row.user.empty() && row.partition.empty()) accounts[row.account] = row;
        rows.push_back(std::move(row));
    }
    std::vector<Association> out;
    for (Association& row : rows) {
        const bool of_account = row.user.empty() && row.partition.empty();
        const auto account = accounts.find(row.account);
        const Association above = of_account || account == accounts.end() ? Association{} : account->second;
        if (row.max_time_min != above.max_time_min || row.default_qos != above.default_qos)
            out.push_back(std::move(row));
    }
    return out;
}

std::vector<User> users_of(std::string_view text, const NameService& names) {
    const Table table(text);
    std::vector<User> out;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::string name = table.cell(i, "user");
        const auto uid = name.empty() || !names.uid_of ? std::nullopt : names.uid_of(name);
        if (uid) out.push_back({*uid, name, table.cell(i, "defacct")});
    }
    return out;
}

}  // namespace dlcast
