// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/timing/weights_manifest.h"

#include <fmt/format.h>

#include "predictor/base/reader.h"
#include "predictor/base/toml.h"

namespace dlcast {
namespace {

constexpr std::array<Net, net_count> all_nets{Net::conv, Net::product, Net::memory};

// The members of an array of tables; empty where the key is absent.
Result<const Value::Array*> tables(ObjectReader& r, std::string_view key) {
    static const Value::Array none;
    const Value* value = r.value(key);
    if (value == nullptr) return &none;
    if (!value->is_array()) r.fail(key, "must be an array of tables");
    return value->is_array() ? &value->as_array() : &none;
}

template <typename Read>
Status read_tables(ObjectReader& r, std::string_view key, Read read) {
    const auto list = tables(r, key);
    for (const Value& value : **list) {
        if (auto status = read(value); !status) return status;
    }
    return ok();
}

Result<NetManifest> read_net(const Value& value, const std::string& source, const std::string& what) {
    NetManifest net;
    ObjectReader r(value, source, what);
    r.require("columns", "weights state the columns they read");
    net.columns = static_cast<int>(r.integer("columns", 1, 4096).value_or(0));
    net.scale_factor = r.number("scale_factor", 1e-3, 1e3).value_or(1.0);
    net.unseen_log_sd = r.number("unseen_log_sd", 0.0, 10.0).value_or(0.0);
    auto status = read_tables(r, "group", [&](const Value& entry) -> Status {
        ObjectReader g(entry, source, what + " group");
        NamedGroup group;
        group.gpu = g.string("gpu").value_or("");
        group.product = g.string("product").value_or("");
        group.session = g.boolean("session").value_or(false);
        net.groups.push_back(group);
        return g.finish();
    });
    if (!status) return status.error();
    if (status = r.finish(); !status) return status.error();
    return net;
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out.push_back('\\');
        if (static_cast<unsigned char>(c) >= 0x20) out.push_back(c);
    }
    return out + '"';
}

}  // namespace

Result<WeightsManifest> parse_weights_manifest(std::string_view text, const std::string& source) {
    const auto root = parse_toml(text, source);
    if (!root) return root.error();
    WeightsManifest out;
    ObjectReader r(*root, source, "the manifest");
    r.require("schema", "weights state the feature schema they were trained with");
    r.require("id", "weights state the hash of their file");
    out.schema = static_cast<int>(r.integer("schema", 0, 1'000'000).value_or(0));
    out.id = r.string("id").value_or("");
    out.seed = r.integer("seed").value_or(0);
    out.members = static_cast<int>(r.integer("members", 1, 16).value_or(1));
    out.excluded = r.strings("excluded").value_or(std::vector<std::string>{});
    for (const Net net : all_nets) {
        const std::string name = to_string(net);
        r.require(name, "each of the three networks has a table");
        const Value* value = r.value(name);
        if (value == nullptr) continue;
        auto read = read_net(*value, source, name);
        if (!read) return read.error();
        out.nets[static_cast<std::size_t>(net)] = std::move(*read);
    }
    auto status = read_tables(r, "source", [&](const Value& entry) -> Status {
        ObjectReader s(entry, source, "source");
        out.sources.push_back({s.string("name").value_or(""), s.string("origin").value_or(""),
                               s.string("licence").value_or(""), s.integer("rows", 0).value_or(0)});
        return s.finish();
    });
    if (!status) return status.error();
    status = read_tables(r, "held_out", [&](const Value& entry) -> Status {
        ObjectReader h(entry, source, "held_out");
        out.held_out.push_back({h.string("source").value_or(""), h.string("op").value_or(""),
                                h.integer("rows", 0).value_or(0), h.number("mape_pct").value_or(0.0),
                                h.number("median_ape_pct").value_or(0.0), h.number("roofline_mape_pct").value_or(0.0)});
        return h.finish();
    });
    if (!status) return status.error();
    status = read_tables(r, "refined", [&](const Value& entry) -> Status {
        ObjectReader k(entry, source, "refined");
        out.refined.push_back({k.string("gpu").value_or(""), k.string("kind").value_or(""),
                               k.integer("rows", 0).value_or(0), k.integer("held_out", 0).value_or(0),
                               k.number("before_mape_pct").value_or(0.0), k.number("after_mape_pct").value_or(0.0)});
        return k.finish();
    });
    if (!status) return status.error();
    if (status = r.finish(); !status) return status.error();
    return out;
}

std::string write_weights_manifest(const WeightsManifest& m) {
    std::string out = fmt::format(
        "# Written by dlcast train. Weights and this page belong together: the id is the hash of {}.\n", weights_file);
    out += fmt::format("schema = {}\nid = {}\nseed = {}\nmembers = {}\n", m.schema, quoted(m.id), m.seed, m.members);
    out += "excluded = [";
    for (std::size_t i = 0; i < m.excluded.size(); ++i) out += (i > 0 ? ", " : "") + quoted(m.excluded[i]);
    out += "]\n\n# Measured rows it learnt from; numbers only, none of them is kept here.\n";
    for (const TrainingSource& s : m.sources) {
        out += fmt::format("[[source]]\nname = {}\norigin = {}\nlicence = {}\nrows = {}\n", quoted(s.name),
                           quoted(s.origin), quoted(s.licence), s.rows);
    }
    for (const Net net : all_nets) {
        const NetManifest& n = m.nets[static_cast<std::size_t>(net)];
        out += fmt::format("\n[{}]\ncolumns = {}\nscale_factor = {:.4f}\nunseen_log_sd = {:.4f}\n", to_string(net),
                           n.columns, n.scale_factor, n.unseen_log_sd);
        for (const NamedGroup& g : n.groups) {
            out += fmt::format("[[{}.group]]\ngpu = {}\nproduct = {}\nsession = {}\n", to_string(net), quoted(g.gpu),
                               quoted(g.product), g.session);
        }
    }
    out += "\n# Error on rows it did not learn from, in percent, beside the roofline's.\n";
    for (const HeldOutError& h : m.held_out) {
        out += fmt::format(
            "[[held_out]]\nsource = {}\nop = {}\nrows = {}\nmape_pct = {:.2f}\nmedian_ape_pct = "
            "{:.2f}\nroofline_mape_pct = {:.2f}\n",
            quoted(h.source), quoted(h.op), h.rows, h.mape_pct, h.median_ape_pct, h.roofline_mape_pct);
    }
    if (!m.refined.empty())
        out += "\n# Measured at this site; errors of what was held out, before and after, in percent.\n";
    for (const RefinedKind& k : m.refined) {
        out += fmt::format(
            "[[refined]]\ngpu = {}\nkind = {}\nrows = {}\nheld_out = {}\nbefore_mape_pct = {:.2f}\nafter_mape_pct = "
            "{:.2f}\n",
            quoted(k.gpu), quoted(k.kind), k.rows, k.held_out, k.before_pct, k.after_pct);
    }
    return out;
}

std::string weights_id(std::string_view file_content) {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a offset basis and prime, 64 bits
    for (const char c : file_content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return fmt::format("{:016x}", hash);
}

}  // namespace dlcast
