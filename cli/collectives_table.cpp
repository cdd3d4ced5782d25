// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/collectives_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/csv.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr double most_ranks = 1 << 20;
constexpr double unstated_network_GBps = 12.5;  // one 100 Gb/s NIC

// Fields of the present row by column name; an absent column is an empty field.
class Fields {
public:
    Fields(const CsvReader& reader, const std::vector<std::string>& fields) : reader_(reader), fields_(fields) {}
    std::string text(std::string_view column) const {
        const int at = reader_.column(column);
        return at < 0 ? "" : std::string(trim(fields_[static_cast<std::size_t>(at)]));
    }
    double number(std::string_view column, double otherwise = 0) const {
        return parse_number(text(column)).value_or(otherwise);
    }

private:
    const CsvReader& reader_;
    const std::vector<std::string>& fields_;
};

Status require_columns(const CsvReader& reader, const std::vector<std::string>& columns) {
    for (const auto& column : columns)
        if (reader.column(column) < 0)
            return invalid_argument(fmt::format("{}:1: no column '{}'; add it", reader.path(), column));
    return ok();
}

// "2.26.2" is 2026; nothing known is the newest.
int version_of(const std::string& nccl) {
    const auto parts = split(nccl, '.');
    if (parts.size() < 2) return 1 << 20;
    const auto major = parse_integer(parts[0]), minor = parse_integer(parts[1]);
    return major && minor
               ? static_cast<int>(std::min<std::int64_t>(*major, 99) * 1000 + std::min<std::int64_t>(*minor, 999))
               : 1 << 20;
}

// What the environment and the version leave NCCL to choose from.
NcclSettings settings_of(const std::string& environment, const std::string& nccl) {
    NcclSettings settings;
    const int version = version_of(nccl);
    settings.nvls = version >= 2017;
    settings.pat = version >= 2023;
    const std::string text = to_lower(environment);
    if (text.find("nccl_algo=ring") != std::string::npos) settings.tree = settings.nvls = settings.pat = false;
    if (text.find("nccl_algo=tree") != std::string::npos) settings.ring = settings.nvls = settings.pat = false;
    if (text.find("nccl_tree_threshold=0") != std::string::npos) settings.tree = false;
    if (text.find("nccl_proto=simple") != std::string::npos) settings.ll = settings.ll128 = false;
    if (text.find("nccl_proto=ll128") != std::string::npos) settings.ll = false;
    if (text.find("nccl_collnet_enable=1") != std::string::npos) settings.sharp = true;
    return settings;
}

// "all_reduce", "AllReduce", "all-to-all" alike. A gather is a scatter the other way.
std::optional<Collective> collective_named(const std::string& text) {
    const std::string name = squeeze(text) == "gather" ? "scatter" : squeeze(text);
    for (std::size_t i = 0; i < collective_names.size(); ++i)
        if (squeeze(collective_names[i]) == name) return static_cast<Collective>(i);
    return std::nullopt;
}

std::string site_of(const std::string& id, const std::string& gpu) {
    return id.substr(0, id.find('_')) + " " + gpu.substr(0, gpu.find('-'));
}

CollectiveSetup setup_of(const Fields& row, const LinkCatalog& links, std::vector<std::string>& warnings) {
    CollectiveSetup setup;
    setup.id = row.text("setup_id");
    setup.gpu = row.text("gpu");
    setup.site = site_of(setup.id, setup.gpu);
    setup.nodes = static_cast<int>(std::clamp(row.number("nodes", 1), 1.0, most_ranks));
    const double gpus = std::clamp(row.number("gpus"), 0.0, most_ranks);
    setup.ranks_per_node = static_cast<int>(std::clamp(row.number("gpus_per_node"), 0.0, most_ranks));
    if (gpus > 0 && gpus != static_cast<double>(setup.nodes) * setup.ranks_per_node) {
        setup.ranks_per_node = std::max(1, static_cast<int>(gpus / setup.nodes));
        warnings.push_back(fmt::format("setup {}: {} GPUs are not {} nodes times its GPUs per node; took {} a node",
                                       setup.id, gpus, setup.nodes, setup.ranks_per_node));
    }
    setup.healthy = row.text("healthy") != "0";

    Fabric& fabric = setup.fabric;
    const std::string node = row.text("intra"), network = row.text("inter");
    fabric.node_GBps = row.number("intra_gbs_per_gpu_unidir");
    const std::string p2p = to_lower(row.text("p2p"));
    fabric.node_link = links.node_link(node, fabric.node_GBps, p2p != "0" && p2p != "false" && p2p != "no");
    if (!(fabric.node_GBps > 0)) fabric.node_GBps = usual_GBps(fabric.node_link, node);
    fabric.network = network_of(network);
    fabric.nics_per_node = static_cast<int>(std::clamp(row.number("nics_per_node", 1), 1.0, 1024.0));
    fabric.network_GBps = row.number("net_gbs_per_node");
    if (!(fabric.network_GBps > 0)) fabric.network_GBps = row.number("nics_per_node") * row.number("nic_gbps") / 8;
    if (to_lower(network).starts_with("mnnvl")) fabric.domain_ranks = 72;
    const bool in_domain = fabric.domain_ranks >= setup.nodes * static_cast<double>(setup.ranks_per_node);
    if (setup.nodes > 1 && !in_domain && !(fabric.network_GBps > 0)) {
        fabric.network_GBps = unstated_network_GBps;
        warnings.push_back(
            fmt::format("setup {}: no rate of its network; took {} GB/s a node", setup.id, unstated_network_GBps));
    }
    const std::string cpu = to_lower(row.text("cpu"));
    fabric.amd_host = cpu.find("amd") != std::string::npos || cpu.find("epyc") != std::string::npos;
    fabric.settings = settings_of(row.text("env"), row.text("nccl"));
    setup.links = setup.nodes > 1 ? node + "+" + network : node;
    return setup;
}

std::string fault_of(const CollectiveRow& row) {
    if (!row.setup) return "no such setup in SETUPS";
    if (!row.kind) return fmt::format("unknown collective '{}'", row.collective);
    if (!(row.bytes >= 0) || std::isinf(row.bytes)) return fmt::format("size_bytes '{}' is no size", row.size_bytes);
    if (row.setup->ranks_per_node < 1) return "a setup without GPUs";
    return "";
}

Status read_rows(const std::string& path, CollectiveTables& tables) {
    auto reader = CsvReader::open(path);
    if (!reader) return reader.error();
    if (auto s = require_columns(*reader, {"setup_id", "collective", "dtype", "size_bytes"}); !s) return s;
    std::vector<std::string> fields;
    const auto verbatim = [&](const char* column) { return fields[static_cast<std::size_t>(reader->column(column))]; };
    for (;;) {
        const auto more = reader->next(fields);
        if (!more) return more.error();
        if (!*more) return ok();
        const Fields named(*reader, fields);
        CollectiveRow row;
        row.setup_id = verbatim("setup_id");
        row.collective = verbatim("collective");
        row.dtype = verbatim("dtype");
        row.size_bytes = verbatim("size_bytes");
        if (const auto found = tables.setups.find(named.text("setup_id")); found != tables.setups.end())
            row.setup = &found->second;
        row.kind = collective_named(named.text("collective"));
        row.bytes = named.number("size_bytes", -1);
        if (const double time_us = named.number("time_us"); time_us > 0) row.time_us = time_us;
        row.outlier = named.number("outlier") != 0;
        row.fault = fault_of(row);
        tables.rows.push_back(std::move(row));
    }
}

}  // namespace

Result<CollectiveTables> read_collectives(const std::string& setups, const std::string& measured,
                                          const LinkCatalog& links) {
    auto reader = CsvReader::open(setups);
    if (!reader) return reader.error();
    if (auto s = require_columns(*reader, {"setup_id", "gpus", "nodes", "gpus_per_node", "intra", "inter"}); !s)
        return s.error();
    CollectiveTables tables;
    std::vector<std::string> fields;
    for (;;) {
        const auto more = reader->next(fields);
        if (!more) return more.error();
        if (!*more) break;
        CollectiveSetup setup = setup_of(Fields(*reader, fields), links, tables.warnings);
        const std::string id = setup.id;
        if (!tables.setups.emplace(id, std::move(setup)).second)
            return invalid_argument(fmt::format("{}:{}: setup '{}' stands twice", setups, reader->line(), id));
    }
    if (auto s = read_rows(measured, tables); !s) return s.error();
    return tables;
}

}  // namespace dlcast
