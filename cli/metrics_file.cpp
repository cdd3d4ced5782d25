// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/metrics_file.h"

#include <fmt/format.h>

#include <cstdlib>

#include "predictor/base/text.h"

namespace dlcast {

Result<Metrics> Metrics::parse(std::string_view text, const std::string& source) {
    Metrics out;
    int number = 0;
    for (const std::string& line : split(text, '\n')) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        const auto space = line.rfind(' ');
        char* end = nullptr;
        const double value = space == std::string::npos ? 0.0 : std::strtod(line.c_str() + space + 1, &end);
        if (space == std::string::npos || end == line.c_str() + space + 1 || *end != '\0')
            return invalid_argument(fmt::format("{}:{}: no metric; is this the plugin's status file?", source, number));
        out.values_[line.substr(0, space)] = value;
    }
    if (out.values_.empty()) return invalid_argument(source + ": no metrics in it; is this the plugin's status file?");
    return out;
}

double Metrics::value(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? 0.0 : found->second;
}

std::string Metrics::label(const std::string& name, const std::string& label) const {
    for (auto it = values_.lower_bound(name); it != values_.end() && it->first.starts_with(name); ++it) {
        const std::string start = label + "=\"";
        const auto at = it->first.find(start);
        if (at == std::string::npos) continue;
        const auto from = at + start.size();
        return it->first.substr(from, it->first.find('"', from) - from);
    }
    return "";
}

}  // namespace dlcast
