// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/site_margins.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t most_bytes = 4u << 20;

std::string remedy(const SiteConfig& site) {
    return fmt::format("write it with `dlcast report --kill-rate {:g} --write-margins {}`", site.kill_rate,
                       site.margins_file);
}

}  // namespace

std::int64_t margins_end_s(const SiteConfig& site, const Margins& margins) {
    if (site.margins_max_age_days == 0) return std::numeric_limits<std::int64_t>::max();
    return margins.calibrated_at_s + std::int64_t{86'400} * site.margins_max_age_days;
}

Result<std::shared_ptr<const Margins>> read_margins(const SiteConfig& site, std::int64_t now_s) {
    if (site.kill_rate <= 0) return std::shared_ptr<const Margins>();
    const std::string& path = site.margins_file;
    const auto text = read_file(path, most_bytes);
    if (!text) return Error{text.error().fault, fmt::format("{}; {}", text.error().message, remedy(site))};
    auto margins = parse_margins(*text, path);
    if (!margins) return margins.error();
    if (margins->rows.empty()) return unavailable(fmt::format("{}: there is no margin in it; {}", path, remedy(site)));
    if (std::abs(margins->kill_rate - site.kill_rate) > 1e-9)
        return unavailable(fmt::format("{}: it keeps a kill rate of {:g}, kill_rate is {:g}; {}", path,
                                       margins->kill_rate, site.kill_rate, remedy(site)));
    if (now_s >= margins_end_s(site, *margins))
        return unavailable(fmt::format("{}: it is older than {} days (margins_max_age_days); {}", path,
                                       site.margins_max_age_days, remedy(site)));
    return std::make_shared<const Margins>(std::move(*margins));
}

}  // namespace dlcast
