// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/link_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/toml.h"
#include "predictor/device/cluster.h"

namespace dlcast {
namespace {

template <typename Kind, typename Names>
std::optional<Kind> kind_named(std::string_view name, const Names& names) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return std::nullopt;
    return static_cast<Kind>(at - names.begin());
}

// Up to its generation number a GPU's name is its family: "H100-SXM5-80GB" and "H100" are "h100".
std::string family(std::string_view gpu) { return squeeze(gpu.substr(0, gpu.find_first_of(" -_"))); }

const Value* member(const Value& root, std::string_view name) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return root.find(name);
    const Value* table = root.find(name.substr(0, dot));
    return table ? table->find(name.substr(dot + 1)) : nullptr;
}

// Every constant must be in `table`, and nothing else; `read` gives the fault of one, or "".
template <typename Read>
std::string read_constants(NcclConstants& constants, const Value& table, const std::string& source, Read read) {
    std::string fault;
    std::size_t known = 0, present = 0;
    std::vector<std::string> names;
    for_each_constant(constants, [&](const std::string& name, double& constant) {
        names.push_back(name);
        ++known;
        if (!fault.empty()) return;
        const Value* value = member(table, name);
        if (!value) {
            fault = at_place(source, table.at, fmt::format("constant '{}' is missing", name));
        } else if (const std::string text = read(*value, constant); !text.empty()) {
            fault = at_place(source, value->at, fmt::format("constant '{}' {}", name, text));
        }
    });
    if (!fault.empty()) return fault;
    const auto check = [&](const std::string& name, Position at) {
        ++present;
        if (!fault.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
        const std::string near = nearest_name(name, names);
        fault = at_place(
            source, at,
            fmt::format("unknown constant '{}'{}", name, near.empty() ? "" : "; did you mean '" + near + "'?"));
    };
    for (const auto& [key, value, at] : table.as_object()) {
        if (!value.is_object()) check(key, at);
        if (value.is_object())
            for (const auto& inner : value.as_object()) check(key + "." + inner.key, inner.at);
    }
    return fault;
}

std::string read_prior(const Value& value, double& median, double& log_sd) {
    const bool pair = value.is_array() && value.as_array().size() == 2 && value.as_array()[0].is_number() &&
                      value.as_array()[1].is_number();
    if (!pair) return "must be [median, log_sd]";
    median = value.as_array()[0].as_number();
    log_sd = value.as_array()[1].as_number();
    return median > 0 && log_sd > 0 ? "" : "needs a median and a log_sd above 0";
}

Result<const Value*> table_of(const Value& root, std::string_view name, const std::string& source) {
    const Value* table = root.find(name);
    if (table && table->is_object()) return table;
    return invalid_argument(at_place(source, root.at, fmt::format("no table [{}]; add it", name)));
}

}  // namespace

NodeLink LinkCatalog::node_link(std::string_view kind, double node_GBps, bool peer_to_peer) const {
    const std::string upper_blind = to_lower(kind);
    const std::string_view name = upper_blind;
    if (name.starts_with("nvb")) return NodeLink::bridge;
    if (name.starts_with("nvl")) {
        const std::size_t bar = name.find('_');
        if (bar != std::string_view::npos)
            if (const auto known = nvlink_of_gpu.find(family(name.substr(bar + 1))); known != nvlink_of_gpu.end())
                return known->second;
    }
    const bool nvlink = name.starts_with("nvl") || (!name.starts_with("pci") && node_GBps >= 100);
    if (!nvlink) return peer_to_peer ? NodeLink::pcie : NodeLink::host;
    if (node_GBps > 600) return NodeLink::nvlink5;
    if (node_GBps > 350) return NodeLink::nvlink4;
    return node_GBps > 200 ? NodeLink::nvlink3 : NodeLink::nvlink2;
}

double usual_GBps(NodeLink link, std::string_view kind) {
    constexpr std::array<double, 5> nvlink{150, 300, 450, 900, 56.25};
    if (link <= NodeLink::bridge) return nvlink[static_cast<std::size_t>(link)];
    const std::size_t digit = kind.find_first_of("123456789");
    const int generation = digit == std::string_view::npos ? 4 : kind[digit] - '0';
    return std::ldexp(2.0, generation);  // x16: 8 GT/s in the third generation, twice that in each later one
}

Fabric fabric_of(const Device& device) {
    Fabric fabric;
    const std::string_view link = device.link;
    const bool nvlink = link.starts_with("nvlink") && link.size() > 6, xgmi = link.starts_with("xgmi");
    if (link == "nvlink3-4" || link == "nvlink4-12") {
        fabric.node_link = NodeLink::bridge;
    } else if (nvlink) {
        fabric.node_link = static_cast<NodeLink>(std::clamp(link[6] - '2', 0, 3));
    } else if (xgmi) {
        fabric.node_link = NodeLink::nvlink2;  // direct links, no switch
    } else {
        fabric.node_link = device.product.find("GeForce") == std::string::npos ? NodeLink::pcie : NodeLink::host;
    }
    // intra_node_link counts what a protocol attains; here the stated rate is asked for.
    fabric.node_GBps = intra_node_link(device).bandwidth_Bps / 1e9 / (nvlink ? 0.8 : 0.75);
    return fabric;
}

Network network_of(std::string_view kind) {
    std::string name = to_lower(trim(kind));
    if (const auto plus = name.rfind('+'); plus != std::string::npos) name = name.substr(plus + 1);
    if (name == "ib") return Network::infiniband;
    return kind_named<Network>(name, network_names).value_or(Network::unknown);
}

Result<LinkCatalog> parse_link_catalog(std::string_view text, const std::string& source) {
    const auto root = parse_toml(text, source);
    if (!root) return root.error();
    LinkCatalog catalog;
    const auto gpus = table_of(*root, "nvlink", source);
    if (!gpus) return gpus.error();
    for (const auto& [gpu, value, at] : (*gpus)->as_object()) {
        const auto link = value.is_string() ? kind_named<NodeLink>(value.as_string(), node_link_names) : std::nullopt;
        if (!link)
            return invalid_argument(
                at_place(source, value.at,
                         fmt::format("the link of '{}' must be one of {}", gpu, fmt::join(node_link_names, ", "))));
        catalog.nvlink_of_gpu[family(gpu)] = *link;
    }
    const auto priors = table_of(*root, "prior", source);
    if (!priors) return priors.error();
    double log_sd = 0;
    std::string fault =
        read_constants(catalog.priors.median, **priors, source,
                       [&](const Value& value, double& median) { return read_prior(value, median, log_sd); });
    if (!fault.empty()) return invalid_argument(fault);
    double median = 0;
    fault = read_constants(catalog.priors.log_sd, **priors, source,
                           [&](const Value& value, double& sd) { return read_prior(value, median, sd); });
    if (!fault.empty()) return invalid_argument(fault);
    return catalog;
}

std::size_t size_class(double bytes) { return bytes <= 65536 ? 0 : bytes <= 16777216 ? 1 : 2; }

double CollectiveSpread::of(double bytes, int nodes) const {
    return (nodes > 1 ? several_nodes : one_node)[size_class(bytes)];
}

Result<FittedCollectives> parse_fitted_collectives(std::string_view text, const std::string& source) {
    const auto root = parse_toml(text, source);
    if (!root) return root.error();
    FittedCollectives fitted;
    ObjectReader file(*root, source, "collectives");
    fitted.provenance = file.string("provenance").value_or("");
    const auto constants = table_of(*root, "constants", source);
    if (!constants) return constants.error();
    const std::string fault =
        read_constants(fitted.constants, **constants, source, [](const Value& value, double& constant) -> std::string {
            if (!value.is_number() || !(value.as_number() > 0)) return "must be a number above 0";
            constant = value.as_number();
            return "";
        });
    if (!fault.empty()) return invalid_argument(fault);
    const auto spread = table_of(*root, "spread", source);
    if (!spread) return spread.error();
    ObjectReader reader(**spread, source, "spread");
    const std::array<std::string, 3> sizes{"to_64KiB", "to_16MiB", "larger"};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        fitted.spread.one_node[i] = reader.number("one_node_" + sizes[i], 0, 10).value_or(0.4);
        fitted.spread.several_nodes[i] = reader.number("several_nodes_" + sizes[i], 0, 10).value_or(0.4);
    }
    if (auto status = reader.finish(); !status) return status.error();
    return fitted;
}

std::string write_fitted_collectives(const FittedCollectives& fitted) {
    std::string top, tables, table;
    for_each_constant(fitted.constants, [&](const std::string& name, double constant) {
        const std::size_t dot = name.find('.');
        if (dot == std::string::npos) {
            top += fmt::format("{} = {:.4g}\n", name, constant);
            return;
        }
        if (table != name.substr(0, dot)) tables += fmt::format("\n[constants.{}]\n", table = name.substr(0, dot));
        tables += fmt::format("{} = {:.4g}\n", name.substr(dot + 1), constant);
    });
    const auto& one = fitted.spread.one_node;
    const auto& several = fitted.spread.several_nodes;
    return fmt::format(
        "# SPDX-License-Identifier: GPL-2.0-or-later\n"
        "# Constants of the collectives' cost model (meanings: links.toml), written by the fit.\n"
        "provenance = \"{}\"\n\n"
        "[spread]  # standard deviation of log(measured / forecast) on sites left out of the fit\n"
        "one_node_to_64KiB = {:.3g}\none_node_to_16MiB = {:.3g}\none_node_larger = {:.3g}\n"
        "several_nodes_to_64KiB = {:.3g}\nseveral_nodes_to_16MiB = {:.3g}\nseveral_nodes_larger = {:.3g}\n\n"
        "[constants]\n{}{}",
        fitted.provenance, one[0], one[1], one[2], several[0], several[1], several[2], top, tables);
}

}  // namespace dlcast
