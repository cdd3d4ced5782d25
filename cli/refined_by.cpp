// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/refined_by.h"

#include <fmt/format.h>

#include <filesystem>

#include "predictor/base/reader.h"
#include "predictor/base/text.h"
#include "predictor/base/toml.h"

namespace dlcast {
namespace {

constexpr std::size_t largest_file = 16u << 20;

}  // namespace

std::string part_name(const OperatorGroup& group, OperatorKind kind) {
    return fmt::format("{}{}{}", to_string(kind), group.tensor_units ? " on tensor units" : "",
                       group.session ? " in sessions" : "");
}

bool contains(const RefinedBy& by, const std::string& gpu, const std::string& part, const std::string& id) {
    const auto found = by.find({gpu, part});
    return found != by.end() && found->second.contains(id);
}

RefinedBy steps_of(const SiteSamples& samples) {
    RefinedBy out;
    for (const SampledPass& sample : samples.passes)
        if (sample.pass.pass == Pass::step) out[{sample.gpu, steps_part}].insert(sample.id);
    return out;
}

Result<RefinedBy> read_refined_by(const std::string& directory) {
    RefinedBy out;
    const std::string path = directory + "/" + refined_by_file;
    if (!std::filesystem::exists(path)) return out;
    const auto text = read_file(path, largest_file);
    if (!text) return text.error();
    const auto root = parse_toml(*text, path);
    if (!root) return root.error();
    ObjectReader r(*root, path, "the samples that refined");
    const Value* parts = r.value("part");
    if (parts != nullptr && !parts->is_array()) r.fail("part", "must be an array of tables");
    if (parts != nullptr && parts->is_array())
        for (const Value& entry : parts->as_array()) {
            ObjectReader p(entry, path, "part");
            const auto gpu = p.string("gpu").value_or(""), of = p.string("of").value_or("");
            const auto ids = p.strings("samples").value_or(std::vector<std::string>{});
            if (const auto s = p.finish(); !s) return s.error();
            out[{gpu, of}].insert(ids.begin(), ids.end());
        }
    if (const auto s = r.finish(); !s) return s.error();
    return out;
}

std::string write_refined_by(const RefinedBy& by) {
    std::string out =
        "# Written by dlcast refine: hashes of the samples that stand in these weights, which cannot judge them.\n";
    for (const auto& [key, ids] : by) {
        out += fmt::format("\n[[part]]\ngpu = \"{}\"\nof = \"{}\"\nsamples = [", key.first, key.second);
        for (const std::string& id : ids) out += fmt::format("\"{}\", ", id);
        out += "]\n";
    }
    return out;
}

}  // namespace dlcast
