// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/profile_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include "predictor/base/text.h"
#include "predictor/model/overrides.h"
#include "predictor/samples/operator_json.h"

namespace dlcast {

std::string device_fault(const std::string& text) {
    if (text == "cpu" || text == "cuda") return "";
    return fmt::format("\"{}\" is unknown; use cpu or cuda", one_line(text, 40));
}

Status check_words(const ModelOptions& options, std::string_view budget) {
    const auto precision = precision_from(options.precision);
    if (!options.precision.empty() && (!precision || *precision == Precision::fp8))
        return invalid_argument(fmt::format("--precision: \"{}\" {}; use fp32, tf32, amp, fp16 or bf16",
                                            one_line(options.precision, 40),
                                            precision ? "cannot be measured" : "is unknown"));
    if (!options.optimizer.empty() && !optimizer_from(options.optimizer))
        return invalid_argument(fmt::format("--optimizer: \"{}\" is unknown; use one of {}",
                                            one_line(options.optimizer, 40), fmt::join(optimizer_names(), ", ")));
    if (const auto seconds = parse_budget_s(budget); !seconds)
        return invalid_argument("--budget: " + seconds.error().message);
    return ok();
}

Result<std::vector<ProfiledModel>> read_models(const ModelOptions& options) {
    WorkloadOverrides overrides;
    overrides.batch_size = options.batch_size;
    overrides.seq_len = options.seq_len;
    overrides.image_size = options.image_size;
    if (!options.precision.empty()) overrides.precision = precision_from(options.precision);
    if (!options.optimizer.empty()) overrides.optimizer = options.optimizer;
    std::vector<ProfiledModel> out;
    for (const std::string& name : options.models) {
        const auto declaration = read_model_argument(name, overrides);
        if (!declaration) return declaration.error();
        const auto workload = to_workload(*declaration, overrides);
        if (!workload) return workload.error();
        out.push_back(profiled_model(name, *workload));
    }
    return out;
}

Result<double> parse_budget_s(std::string_view text) {
    const Error fault =
        invalid_argument(fmt::format("\"{}\" is no time; write 90s, 10min, 1h or 1h30min", one_line(text, 40)));
    double total_s = 0.0;
    while (!text.empty()) {
        const auto digits = text.find_first_not_of("0123456789.");
        const auto number = parse_number(text.substr(0, digits));
        if (!number) return fault;
        text.remove_prefix(digits == std::string_view::npos ? text.size() : digits);
        const auto unit = text.substr(0, text.find_first_of("0123456789."));
        if (unit == "h")
            total_s += 3600.0 * *number;
        else if (unit == "min" || unit == "m")
            total_s += 60.0 * *number;
        else if (unit == "s" || unit.empty())
            total_s += *number;
        else
            return fault;
        text.remove_prefix(unit.size());
    }
    constexpr double longest_s = 30 * 86400.0;
    if (!(total_s > 0.0) || total_s > longest_s) return fault;
    return total_s;
}

std::string host_name() {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    return name;
}

}  // namespace dlcast
