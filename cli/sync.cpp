// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/sync.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "cli/accounting_sources.h"
#include "cli/assoc_rows.h"
#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/installation.h"
#include "cli/run_program.h"
#include "cli/synced_budgets.h"
#include "predictor/base/text.h"
#include "predictor/job/site_config.h"

namespace dlcast {
namespace {

constexpr std::size_t most_bytes = 256u << 20;  // also of a queue of a million jobs with forecasts
constexpr std::chrono::seconds patience{60};    // a busy slurmctld of a large site answers within

struct SyncOptions {
    std::string output, from, config_file;
};

// Where the plugin will look for the cluster file.
Result<std::string> configured_output(const std::string& config_file) {
    const auto config = read_site_config(config_file);
    if (!config) return config.error();
    return config->cluster_file;
}

Status sync(const SyncOptions& options) {
    const auto path = options.output.empty() ? configured_output(options.config_file) : Result(options.output);
    if (!path) return path.error();
    std::vector<std::string> warnings;
    const auto output = options.from.empty() ? ask_slurm(warnings) : read_slurm_output(options.from);
    if (!output) return output.error();
    const std::int64_t now_s =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    auto cluster = cluster_from_slurm(*output, warnings, system_names(), now_s);
    if (!cluster) return cluster.error();
    cluster->synced_at_s = now_s;

    for (const std::string& warning : warnings) fmt::print(stderr, "dlcast: warning: {}\n", warning);
    const std::string text = write_cluster(*cluster);
    if (*path == "-") {
        fmt::print("{}", text);
        return ok();
    }
    if (auto written = write_file_atomically(*path, text); !written) return written.error();
    fmt::print(stderr, "dlcast: wrote {}: {} of cluster {}\n", *path, counted(cluster->partitions.size(), "partition"),
               cluster->name);
    return ok();
}

}  // namespace

Result<SlurmOutput> ask_slurm(std::vector<std::string>& warnings) {
    SlurmOutput out;
    const auto ask = [](std::string& to, const std::vector<std::string>& command) -> Status {
        auto text = run_program(command, patience);
        if (!text)
            return unavailable(text.error().message +
                               "; run sync where Slurm's commands are, or read their saved output with --from DIR");
        to = std::move(*text);
        return ok();
    };
    if (auto s = ask(out.partitions, {"scontrol", "--all", "show", "partition", "--oneliner"}); !s) return s.error();
    if (auto s = ask(out.nodes, {"scontrol", "--all", "show", "node", "--oneliner"}); !s) return s.error();
    if (auto s = ask(out.config, {"scontrol", "show", "config"}); !s) return s.error();
    if (!config_value(out.config, "AccountingStorageType").ends_with("slurmdbd")) {
        warnings.emplace_back("this Slurm has no slurmdbd: there are no limits of QOS, accounts and users");
        return out;
    }
    const auto sacctmgr = [](std::string& to, const std::vector<std::string>& arguments) -> Status {
        std::vector<std::string> command{"sacctmgr", "--parsable2", "show"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        auto text = run_program(command, patience);
        if (!text) return unavailable(text.error().message + "; is slurmdbd up? The cluster file stays as it is");
        to = std::move(*text);
        return ok();
    };
    if (auto s = sacctmgr(out.qos, {"qos", "format=Name,MaxWall,Flags"}); !s) return s.error();
    // One database may serve several clusters.
    if (auto s =
            sacctmgr(out.associations, {"assoc", "where", "cluster=" + config_value(out.config, "ClusterName"),
                                        "format=Account,ParentName,User,Partition,MaxWall,DefaultQOS,GrpTRESMins"});
        !s)
        return s.error();
    if (auto s = sacctmgr(out.users, {"user", "format=User,DefaultAccount"}); !s) return s.error();
    if (!has_gpu_budgets(out.associations) || !counts_use(out.config)) return out;
    ask_slurm_plainly();
    if (auto s = ask(out.shares, sshare_arguments()); !s) warnings.push_back(s.error().message);
    if (auto s = ask(out.queue, squeue_arguments()); !s)
        warnings.push_back(s.error().message);
    else
        out.queue.insert(0, std::string(squeue_header) + '\n');
    return out;
}

Result<SlurmOutput> read_slurm_output(const std::string& folder) {
    SlurmOutput out;
    struct Part {
        const char* file;
        std::string* to;
        const char* command = "";  // of a file that has to be there
    };
    for (const Part& part :
         {Part{"scontrol-partition.txt", &out.partitions, "scontrol --all show partition --oneliner"},
          Part{"scontrol-node.txt", &out.nodes, "scontrol --all show node --oneliner"},
          Part{"scontrol-config.txt", &out.config, "scontrol show config"}, Part{"sacctmgr-qos.txt", &out.qos},
          Part{"sacctmgr-assoc.txt", &out.associations}, Part{"sacctmgr-user.txt", &out.users},
          Part{"sshare.txt", &out.shares}, Part{"squeue.txt", &out.queue}}) {
        auto text = read_file(folder + "/" + part.file, most_bytes);
        const bool has_to_be = *part.command != '\0';
        if (text)
            *part.to = std::move(*text);
        else if (text.error().fault != Fault::not_found)
            return text.error();
        else if (has_to_be)
            return not_found(
                fmt::format("--from: {}; save there what `{}` prints, or leave --from out where Slurm runs",
                            text.error().message, part.command));
    }
    return out;
}

void add_sync(CLI::App& app, int& exit_code) {
    CLI::App* verb = app.add_subcommand("sync", "Write the cluster file from the running Slurm");
    const auto options = std::make_shared<SyncOptions>();
    verb->add_option("--output", options->output,
                     "File to write, - for stdout; the configuration's cluster file otherwise")
        ->type_name("FILE");
    verb->add_option("--from", options->from,
                     "Read saved output instead: scontrol-partition.txt, scontrol-node.txt, scontrol-config.txt, "
                     "sacctmgr-qos.txt, sacctmgr-assoc.txt, sacctmgr-user.txt, sshare.txt, squeue.txt")
        ->type_name("DIR");
    verb->add_option("--config", options->config_file, "Configuration, instead of DLCAST_CONFIG's or the installed one")
        ->type_name("FILE");
    verb->callback([options, &exit_code] {
        const Status done = sync(*options);
        exit_code = done ? exit_done : report(done.error());
    });
}

}  // namespace dlcast
