// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/gpu_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_gpus = 1'000'000;

std::optional<std::int64_t> parse_count(std::string_view text) {
    std::int64_t unit = 1;
    if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) unit = 1024;
    if (!text.empty() && (text.back() == 'm' || text.back() == 'M')) unit = 1024 * 1024;
    if (unit > 1) text.remove_suffix(1);
    const auto number = parse_integer(text);
    if (!number || *number > most_gpus / unit) return std::nullopt;
    return *number * unit;
}

bool starts_with_word(std::string_view text, std::string_view word) {
    return text.substr(0, word.size()) == word &&
           (text.size() == word.size() || text[word.size()] == ':' || text[word.size()] == '=');
}

Error contradiction(const std::string& what) {
    return invalid_argument(fmt::format("GPU request: {}; ask with --gpus-per-node and --nodes, or with --gpus", what));
}

// Nodes that the request fixes; 0: open. A range (-N 2-4) is forecast at its low end.
std::int64_t asked_nodes(const SubmitRequest& request) {
    if (request.min_nodes > 0) return request.min_nodes;
    if (request.num_tasks > 0 && request.ntasks_per_node > 0)
        return (request.num_tasks + request.ntasks_per_node - 1) / request.ntasks_per_node;
    return 0;
}

std::int64_t asked_tasks(const SubmitRequest& request, std::int64_t nodes) {
    if (request.num_tasks > 0) return request.num_tasks;
    if (request.ntasks_per_node > 0) return request.ntasks_per_node * std::max<std::int64_t>(1, nodes);
    return std::max<std::int64_t>(1, nodes);  // Slurm starts one task a node
}

}  // namespace

Result<std::optional<GpuCount>> parse_gpu_tres(std::string_view tres) {
    std::optional<GpuCount> found;
    for (const std::string& item : split(tres, ',')) {
        std::string_view text = trim(item);
        for (const std::string_view prefix : {"gres:", "gres/"})
            if (text.substr(0, prefix.size()) == prefix) text.remove_prefix(prefix.size());
        text = text.substr(0, text.find('('));  // "gpu:2(S:0-1)"
        if (!starts_with_word(text, "gpu")) continue;
        text.remove_prefix(3);
        GpuCount one{.type = "", .count = 1};
        // The count is what follows the last separator, if that is a number; what stands between is the type.
        const auto last = text.find_last_of(":=");
        if (last != std::string_view::npos) {
            const auto count = parse_count(text.substr(last + 1));
            if (count) one.count = *count;
            const std::string_view type = count ? text.substr(0, last) : text;
            if (!count && (text[last] == '=' || last > 0))
                return invalid_argument(
                    fmt::format("'{}': '{}' is no GPU count; write gpu:TYPE:COUNT", item, text.substr(last + 1)));
            if (!type.empty()) one.type = std::string(type.substr(1));
        }
        if (found && found->type != one.type)
            return invalid_argument(fmt::format("'{}' names GPUs of two types; a forecast needs one", tres));
        if (found) one.count += found->count;
        found = one;
    }
    return found;
}

Result<std::optional<GpuRequest>> read_gpu_request(const SubmitRequest& request) {
    std::int64_t nodes = asked_nodes(request);
    std::int64_t total = 0, per_node = 0;
    std::string type;
    for (const std::string* tres :
         {&request.tres_per_job, &request.tres_per_node, &request.tres_per_task, &request.tres_per_socket}) {
        auto gpus = parse_gpu_tres(*tres);
        if (!gpus) return gpus.error();
        if (!*gpus || (*gpus)->count == 0) continue;
        if (!type.empty() && !(*gpus)->type.empty() && type != (*gpus)->type)
            return contradiction(fmt::format("types {} and {}", type, (*gpus)->type));
        if (!(*gpus)->type.empty()) type = (*gpus)->type;
        const std::int64_t count = (*gpus)->count;
        if (tres == &request.tres_per_job) {
            total = count;
        } else if (tres == &request.tres_per_node) {
            per_node = count;
        } else if (tres == &request.tres_per_task) {
            const std::int64_t tasks = asked_tasks(request, nodes);
            if (tasks > most_gpus / count) return contradiction("too many tasks");
            if (total == 0 && per_node == 0) total = tasks * count;
        } else if (per_node == 0 && total == 0) {
            per_node = count;  // Slurm wants --sockets-per-node beside it; one socket where that is not told
        }
    }
    if (total == 0 && per_node == 0) return std::optional<GpuRequest>{};
    if (per_node > 0 && total > 0 && nodes == 0) nodes = (total + per_node - 1) / per_node;
    if (per_node > 0 && total == 0) {
        nodes = std::max<std::int64_t>(1, nodes);
        if (nodes > most_gpus / per_node) return contradiction("too many nodes");
        total = nodes * per_node;
    }
    if (nodes > 0 && total % nodes != 0)
        return contradiction(fmt::format("{} GPUs do not divide evenly over {} nodes", total, nodes));
    if (nodes > 0 && per_node > 0 && per_node * nodes != total)
        return contradiction(fmt::format("{} nodes of {} GPUs are not {} GPUs", nodes, per_node, total));
    if (nodes > 0) per_node = total / nodes;
    if (total > most_gpus) return contradiction("too many GPUs");
    return std::optional<GpuRequest>{GpuRequest{.type = type,
                                                .gpus = static_cast<int>(total),
                                                .nodes = static_cast<int>(nodes),
                                                .gpus_per_node = static_cast<int>(per_node)}};
}

}  // namespace dlcast
