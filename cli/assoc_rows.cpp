// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/assoc_rows.h"

#include <fmt/format.h>

#include "cli/slurm_table.h"
#include "predictor/accounting/tres.h"
#include "predictor/base/text.h"

namespace dlcast {

const char* const assoc_command =
    "sacctmgr --parsable2 show assoc format=Account,ParentName,User,Partition,Fairshare,GrpTRESMins";
const char* const sshare_command =
    "sshare --all --parsable2 --format=Account,User,Partition,FairShare,LevelFS,GrpTRESRaw";

namespace {

bool is_counted(std::string_view tres) {
    return tres == "gres/gpu" || tres.starts_with("gres/gpu:") || tres == "billing";
}

// Slurm counts in minutes.
std::vector<std::pair<std::string, double>> hours_of(std::string_view minutes) {
    std::vector<std::pair<std::string, double>> out;
    for (const auto& [name, amount] : parse_tres(minutes))
        if (is_counted(name)) out.emplace_back(name, amount / 60);
    return out;
}

}  // namespace

std::vector<std::string> assoc_arguments(const std::string& cluster) {
    std::vector<std::string> out{"sacctmgr", "--parsable2", "show", "assoc"};
    if (!cluster.empty()) out.insert(out.end(), {"where", "cluster=" + cluster});
    out.push_back("format=Account,ParentName,User,Partition,Fairshare,GrpTRESMins");
    return out;
}

std::vector<std::string> sshare_arguments() {
    return {"sshare", "--all", "--parsable2", "--format=Account,User,Partition,FairShare,LevelFS,GrpTRESRaw"};
}

Result<std::vector<BudgetRow>> read_assoc(LineReader lines) {
    auto table = SlurmTable::open(std::move(lines),
                                  {{{"Account"}, true},
                                   {{"ParentName", "Par Name"}, true},
                                   {{"User"}, true},
                                   {{"Partition"}, false},
                                   {{"Share", "Fairshare"}, false},
                                   {{"GrpTRESMins"}, true}},
                                  fmt::format("`{}`", assoc_command));
    if (!table) return table.error();
    std::vector<BudgetRow> out;
    std::vector<std::string_view> f;
    while (true) {
        const auto got = table->next(f);
        if (!got) return got.error();
        if (!*got) return out;
        const auto text = [&](std::size_t i) { return std::string(trim(f[i])); };
        out.push_back({text(0), text(1), text(2), text(3), text(4), hours_of(f[5])});
    }
}

Result<std::vector<BudgetUsage>> read_sshare(LineReader lines) {
    auto table = SlurmTable::open(std::move(lines),
                                  {{{"Account"}, true},
                                   {{"User"}, true},
                                   {{"Partition"}, false},
                                   {{"FairShare"}, false},
                                   {{"GrpTRESRaw"}, true},
                                   {{"LevelFS"}, false}},
                                  fmt::format("`{}`", sshare_command));
    if (!table) return table.error();
    std::vector<BudgetUsage> out;
    std::vector<std::string_view> f;
    while (true) {
        const auto got = table->next(f);
        if (!got) return got.error();
        if (!*got) return out;
        BudgetUsage row{std::string(trim(f[0])), std::string(trim(f[1])), std::string(trim(f[2])), {}, {}, {}};
        if (const auto share = parse_number(f[3])) row.fair_share = *share;
        row.used_h = hours_of(f[4]);
        row.level_fs = parse_number(trim(f[5]));
        out.push_back(std::move(row));
    }
}

}  // namespace dlcast
