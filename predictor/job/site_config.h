// SPDX-License-Identifier: GPL-2.0-or-later
// dlcast.toml: the administrator's policy and the site's figures.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/reader.h"
#include "predictor/base/result.h"
#include "predictor/job/job_forecast.h"
#include "predictor/step/input_pipeline.h"

namespace dlcast {

struct Margins;

enum class Mode {
    shadow,   // record in admin_comment, say nothing, change nothing
    advise,   // record and print, change nothing
    enforce,  // fill what the user left open
};
enum class Overwrite { never, shorten, always };   // a limit the user asked for
enum class OnFailure { accept, reject };           // when no forecast can be made
enum class BudgetPolicy { ignore, warn, reject };  // of a job that its account's budget does not hold
// Among partitions that fit; `slowest` is none that a site may choose: where Slurm decides, the limit has to do
// anywhere.
enum class Ranking { first, fastest, cheapest, balanced, slowest };

struct SiteConfig {
    Mode mode = Mode::enforce;
    OnFailure on_failure = OnFailure::accept;
    OnFailure on_no_fit = OnFailure::accept;  // forecast longer than the partition allows, or memory too small
    int deadline_ms = 50;
    int cluster_max_age_h = 168;  // an older cluster file is told in the log; 0: never
    // [time_limit]
    double quantile = 0.95;
    double margin_factor = 1.20;
    double kill_rate = 0.0;  // the margins' limits, which keep it, go before quantile x margin_factor; 0: these alone
    int margins_max_age_days = 90;  // older margins are not used; 0: however old
    int round_up_min = 15;
    int floor_min = 15;
    int ceiling_min = 0;  // 0: none but the partition's
    Overwrite overwrite = Overwrite::never;
    bool soft_limit = false;  // the median as --time-min, where Slurm takes that for a soft limit
    // [partition]
    Ranking ranking = Ranking::fastest;
    // [budget]
    BudgetPolicy budget = BudgetPolicy::warn;
    // [job]
    JobCosts job;
    // [network]
    double inter_node_bandwidth_Bps = 0.0;       // per node; 0: what nodes with such GPUs usually have
    std::string network_source = "dlcast.toml";  // who stated it
    double inter_node_latency_s = 5e-6;
    // [input] data loaders
    InputRates input;
    // [gpu_names] GRES type -> catalog key
    std::map<std::string, std::string> gpu_names;
    // [files], absolute; in dlcast.toml relative to its folder
    std::string gpus_file, cluster_file, weights_dir;
    std::string margins_file;    // of `dlcast report --write-margins`
    std::string status_file;     // counters; empty: none are written
    std::string site_gpus_file;  // the site's own GPUs, over those of gpus_file; empty: none
    // What stands in margins_file and is in force (site_margins.h); null: nothing.
    std::shared_ptr<const Margins> margins;
};

/// Errors: bad TOML, unknown key (with the nearest known one), value out of range; each with line and column. Relative
/// files are taken from the folder of `source`; a file not named is "gpus.toml", "cluster.toml", "weights" there.
Result<SiteConfig> parse_site_config(std::string_view text, const std::string& source);
/// The same with every fault at once.
Checked<SiteConfig> check_site_config(std::string_view text, const std::string& source);

const char* to_string(Mode mode);
const char* to_string(OnFailure choice);
const char* to_string(Overwrite choice);
const char* to_string(BudgetPolicy choice);
const char* to_string(Ranking choice);

}  // namespace dlcast
