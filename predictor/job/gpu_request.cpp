// SPDX-License-Identifier: GPL-2.0-or-later
// Counts follow Slurm's own (gres_job_state_validate in its source): what is asked for in several ways is one request.
#include "predictor/job/gpu_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_gpus = 1'000'000;

std::optional<std::int64_t> parse_count(std::string_view text) {
    std::int64_t unit = 1;
    const char suffix = text.empty() ? '\0' : text.back();
    if (suffix == 'k' || suffix == 'K') unit = 1024;
    if (suffix == 'm' || suffix == 'M') unit = 1024 * 1024;
    if (suffix == 'g' || suffix == 'G') unit = 1024 * 1024 * 1024;
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

std::int64_t parts(std::int64_t all, std::int64_t each) { return (all + each - 1) / each; }

/// What the four texts name, of one type.
struct Named {
    std::string type;
    std::int64_t per_job = 0, per_node = 0, per_task = 0, per_socket = 0;
    bool any() const { return per_job + per_node + per_task + per_socket > 0; }
};

Result<Named> read_names(const SubmitRequest& request) {
    Named out;
    const auto read = [&out](const std::string& tres, std::int64_t& count) -> Status {
        auto gpus = parse_gpu_tres(tres);
        if (!gpus) return gpus.error();
        if (!*gpus || (*gpus)->count == 0) return ok();
        const std::string& type = (*gpus)->type;
        if (!out.type.empty() && !type.empty() && to_lower(out.type) != to_lower(type))
            return contradiction(fmt::format("types {} and {}", out.type, type));
        if (!type.empty()) out.type = type;
        count = (*gpus)->count;
        return ok();
    };
    if (auto s = read(request.tres_per_job, out.per_job); !s) return s.error();
    if (auto s = read(request.tres_per_node, out.per_node); !s) return s.error();
    if (auto s = read(request.tres_per_task, out.per_task); !s) return s.error();
    if (auto s = read(request.tres_per_socket, out.per_socket); !s) return s.error();
    return out;
}

// Nodes that the request fixes or ranges over; 0: open.
struct Nodes {
    std::int64_t least = 0, most = 0;
    bool fixed() const { return least > 0 && least == most; }
};

Nodes asked_nodes(const SubmitRequest& request) {
    Nodes out;
    if (request.min_nodes > 0) {
        out.least = request.min_nodes;
        out.most = std::max(request.max_nodes > 0 ? request.max_nodes : request.min_nodes, request.min_nodes);
    } else if (request.num_tasks > 0 && request.ntasks_per_node > 0) {
        out.least = out.most = parts(request.num_tasks, request.ntasks_per_node);
    }
    return out;
}

std::int64_t asked_tasks(const SubmitRequest& request, const Nodes& nodes) {
    if (request.num_tasks > 0) return request.num_tasks;
    const std::int64_t on = std::max<std::int64_t>(1, nodes.least);
    if (request.ntasks_per_node > most_gpus / on) return most_gpus;
    return request.ntasks_per_node > 0 ? request.ntasks_per_node * on : on;  // Slurm starts one task a node
}

// GPUs in all (0: open) and of a node (0: open).
struct Counts {
    std::int64_t total = 0, per_node = 0;
};

Result<Counts> count_gpus(const SubmitRequest& request, const Named& named, const Nodes& nodes, GpuRequest& out) {
    Counts counts{named.per_job, named.per_node};
    const std::int64_t tasks = asked_tasks(request, nodes);
    if (counts.total == 0 && counts.per_node == 0 && named.per_task > 0) {
        if (tasks > most_gpus / named.per_task) return contradiction("too many tasks");
        counts.total = tasks * named.per_task;
    }
    if (counts.total == 0 && counts.per_node == 0 && named.per_socket > 0) {
        if (request.sockets_per_node > 0) {
            counts.per_node = named.per_socket * request.sockets_per_node;
        } else if (request.num_tasks > 0 && request.ntasks_per_socket > 0) {
            counts.total = named.per_socket * parts(request.num_tasks, request.ntasks_per_socket);
        } else {
            counts.per_node = named.per_socket;
            out.assumed.emplace_back("1 socket a node (--sockets-per-node not stated)");
        }
    }
    // Without a count of GPUs Slurm gives one to so many tasks.
    if (!named.any() && request.ntasks_per_gpu > 0 && request.num_tasks > 0)
        counts.total = std::max<std::int64_t>(1, request.num_tasks / request.ntasks_per_gpu);
    return counts;
}

// Brings total, nodes and GPUs of a node together.
Status settle(Counts counts, Nodes nodes, GpuRequest& out) {
    if (counts.per_node > 0 && counts.total > 0 && !nodes.fixed())
        nodes.least = nodes.most = parts(counts.total, counts.per_node);
    if (counts.per_node > 0 && counts.total == 0) {
        if (nodes.most > nodes.least)
            out.assumed.push_back(fmt::format("{} node{} (the least of {}-{})", nodes.least,
                                              nodes.least == 1 ? "" : "s", nodes.least, nodes.most));
        nodes.least = nodes.most = std::max<std::int64_t>(1, nodes.least);
        if (nodes.least > most_gpus / counts.per_node) return contradiction("too many nodes");
        counts.total = nodes.least * counts.per_node;
    }
    if (nodes.fixed() && counts.per_node > 0 && counts.per_node * nodes.least != counts.total)
        return contradiction(
            fmt::format("{} nodes of {} GPUs are not {} GPUs", nodes.least, counts.per_node, counts.total));
    if (nodes.least > counts.total)
        return contradiction(fmt::format("{} nodes for {} GPUs", nodes.least, counts.total));
    if (counts.total > most_gpus) return contradiction("too many GPUs");
    if (nodes.fixed() && counts.total % nodes.least == 0) counts.per_node = counts.total / nodes.least;
    out.gpus = static_cast<int>(counts.total);
    out.nodes = static_cast<int>(nodes.least);
    out.max_nodes = static_cast<int>(std::min(nodes.most, most_gpus));
    out.gpus_per_node = static_cast<int>(counts.per_node);
    return ok();
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
        if (found && !found->type.empty() && !one.type.empty() && to_lower(found->type) != to_lower(one.type))
            return invalid_argument(fmt::format("'{}' names GPUs of two types; a forecast needs one", tres));
        if (found && one.type.empty()) one.type = found->type;
        found = one;
    }
    return found;
}

Result<std::optional<GpuRequest>> read_gpu_request(const SubmitRequest& request) {
    const auto named = read_names(request);
    if (!named) return named.error();
    GpuRequest out;
    out.type = named->type;
    const Nodes nodes = asked_nodes(request);
    const auto counts = count_gpus(request, *named, nodes, out);
    if (!counts) return counts.error();
    if (counts->total > 0 || counts->per_node > 0) {
        if (auto s = settle(*counts, nodes, out); !s) return s.error();
        if (request.exclusive)
            out.assumed.emplace_back("the GPUs asked for are used (--exclusive gives all of the nodes)");
        return std::optional<GpuRequest>{std::move(out)};
    }
    if (!request.exclusive) return std::optional<GpuRequest>{};
    if (nodes.least > most_gpus) return contradiction("too many nodes");
    out.whole_nodes = true;
    out.nodes = out.max_nodes = static_cast<int>(std::max<std::int64_t>(1, nodes.least));
    return std::optional<GpuRequest>{std::move(out)};
}

}  // namespace dlcast
