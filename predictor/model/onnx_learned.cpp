// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/onnx_learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t most_names = 3, longest_name = 40;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool is_number(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

// PyTorch calls what it computed itself "onnx::MatMul_123" or "123", ONNX's optimisers "const_fold_opt__12".
bool has_owner(const std::string& name) {
    return !name.empty() && name.find("::") == std::string::npos && !name.starts_with("const_fold") && !is_number(name);
}

// "layers.1.linear1.weight".
bool is_path(const std::string& name) {
    return has_owner(name) && name.find('.') != std::string::npos && name.find('/') == std::string::npos;
}

// What frameworks call buffers, and never what they learn.
bool is_buffer(const std::string& name) {
    const std::string last = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    constexpr std::array whole = {"running_mean", "running_var",  "inv_freq", "anchors", "pixel_mean",
                                  "pixel_std",    "position_ids", "_u",       "_v",      "weight_u"};
    return std::find(whole.begin(), whole.end(), last) != whole.end() || last.ends_with("mask");
}

// What is added to data under such a name is learned.
bool is_learned_name(const std::string& name) {
    constexpr std::array endings = {"weight", "bias",  "gamma",     "beta",       "scale",
                                    "token",  "embed", "embedding", "embeddings", "table"};
    return std::any_of(endings.begin(), endings.end(), [&](const char* end) { return name.ends_with(end); });
}

std::ptrdiff_t sides_of(const Sizes& shape) {
    return std::count_if(shape.begin(), shape.end(), [](std::int64_t size) { return size > 1; });
}

// Places in lists alone: "layers.#/linear1".
std::string pattern_of(const std::string& module) {
    std::string out;
    for (std::size_t i = 0; i < module.size(); ++i) {
        const bool starts = i == 0 || module[i - 1] == '.' || module[i - 1] == '/';
        if (!starts || !is_digit(module[i])) {
            out += module[i];
            continue;
        }
        while (i + 1 < module.size() && is_digit(module[i + 1])) ++i;
        out += '#';
    }
    return out;
}

}  // namespace

std::string onnx_module(const std::string& node) {
    std::string out;
    std::string_view rest = node;
    while (rest.starts_with('/')) rest.remove_prefix(1);
    for (auto end = rest.find('/'); end != std::string_view::npos; end = rest.find('/')) {
        std::string_view one = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        if (const auto call = one.rfind('_'); call != std::string_view::npos && is_number(one.substr(call + 1)))
            one = one.substr(0, call);
        if (!out.empty()) out += '/';
        out += one;
    }
    return out;
}

void OnnxLearned::Names::add(const std::string& name, double numbers) {
    ++count;
    size += numbers;
    if (first.size() < most_names) first.push_back(one_line(name, longest_name));
}

std::string OnnxLearned::Names::text() const {
    return fmt::format("{}{}", fmt::join(first, ", "), count > first.size() ? ", ..." : "");
}

OnnxPart OnnxLearned::tensor(const std::string& name, const Sizes& shape, bool constant) {
    Part part;
    part.name = name;
    part.shape = shape;
    part.size = 1.0;
    for (const std::int64_t size : shape) part.size *= static_cast<double>(size);
    part.left = part.size;
    part.constant = constant;
    part.named = has_owner(name);
    part.root = static_cast<OnnxPart>(parts_.size());
    parts_.push_back(std::move(part));
    return parts_.back().root;
}

OnnxPart OnnxLearned::copy(OnnxPart of, const std::string& name) {
    if (of == 0 || !is_leaf(parts_[of]) || parts_[of].constant) return of;
    Part part;
    part.name = name;
    part.shape = parts_[of].shape;
    part.size = part.left = parts_[of].size;
    part.root = parts_[of].root;
    part.named = has_owner(name);
    part.open = !is_path(name);
    parts_.push_back(std::move(part));
    return static_cast<OnnxPart>(parts_.size() - 1);
}

OnnxPart OnnxLearned::joined(OnnxPart a, OnnxPart b) {
    if (a == 0 || b == 0 || a == b) return a == 0 ? b : a;
    parts_.emplace_back();
    parts_.back().from = {a, b};
    return static_cast<OnnxPart>(parts_.size() - 1);
}

// The same module, called again, reads the same weight under another name; its neighbour in a list of modules reads
// one that is equal. Whoever else reads it is tied, and a head whose weight equals the table is whatever its name.
void OnnxLearned::meet(OnnxPart self, const std::string& module, OnnxUse use) {
    Part& part = parts_[self];
    const Part& root = parts_[part.root];
    const bool own = part.root == self;
    if (!own && root.table && use == OnnxUse::kernel) {
        part.left = 0.0;
    } else if (!own && !part.open) {
        merged_.add(part.name, part.size);
    } else if (!root.modules.empty()) {
        const bool apart = !module.empty() && !root.modules.contains(module) && pattern_of(module) == root.pattern;
        if (apart)
            merged_.add(module, part.size);
        else
            part.left = 0.0;
    }
}

OnnxLearned::Taken OnnxLearned::take_leaf(OnnxPart self, const Reader& reader, bool whole) {
    Part& part = parts_[self];
    if (part.constant && !reader.constants) return {};
    if (!part.constant && is_buffer(part.name)) {
        leave(self);
        return {};
    }
    const bool matrix = sides_of(part.shape) > 1, first = !part.taken;
    bool known = true;
    Part& root = parts_[part.root];
    if (matrix) {
        const std::string module = onnx_module(reader.node);
        if (first) meet(self, module, reader.use);
        if (root.modules.empty()) root.pattern = pattern_of(module);
        known = !root.modules.insert(module).second && !module.empty();
    }
    part.taken = true;
    if (reader.use == OnnxUse::table && part.shape.size() == 2) {
        root.table = true;
        if (largest_table_ == 0 || part.shape[0] > parts_[largest_table_].shape[0]) largest_table_ = self;
    }
    const double count = whole ? part.left : std::min(part.left, reader.elements);
    if (count <= 0.0) {
        if (matrix && !known && !root.table) shared_.add(part.name, part.size);
        return {0.0, part.size > 0.0};
    }
    if (first && whole && reader.use == OnnxUse::kernel && !part.named && part.shape.size() == 2)
        heads_.emplace_back(reader.layer, self);
    part.left -= count;
    part.layer = reader.layer;
    return {count, false};
}

OnnxLearned::Taken OnnxLearned::take(OnnxPart part, const Reader& reader) {
    Taken out;
    if (part == 0) return out;
    if (is_leaf(parts_[part])) return take_leaf(part, reader, !reader.piece);
    std::vector<OnnxPart> open = {part};
    bool several = false;
    while (!open.empty()) {
        const OnnxPart self = open.back();
        Part& one = parts_[self];
        open.pop_back();
        if (!is_leaf(one)) {
            if (one.taken) {
                out.shared = true;
                continue;
            }
            one.taken = true;
            open.push_back(one.from[0]);
            open.push_back(one.from[1]);
            continue;
        }
        const Taken leaf = take_leaf(self, reader, true);
        // A mask of a weight's size is a number for each of its numbers, learned or not.
        if (several && leaf.count > 1.0 && leaf.count >= reader.elements) doubtful_.add(one.name, one.size);
        several = several || leaf.count >= reader.elements;
        out.count += leaf.count;
        out.shared = out.shared || leaf.shared;
    }
    return out;
}

void OnnxLearned::doubt(OnnxPart part) {
    if (part == 0 || !is_leaf(parts_[part])) return;
    const Part& one = parts_[part];
    if (!one.taken && !one.constant && sides_of(one.shape) > 1 && !is_learned_name(one.name) && !is_buffer(one.name))
        doubtful_.add(one.name, one.size);
}

// Batch norms that the exporter folded into a convolution leave a bias without a name, too.
void OnnxLearned::expect_name(OnnxPart kernel, OnnxPart bias) {
    if (kernel == 0 || !is_leaf(parts_[kernel]) || parts_[kernel].constant || (bias != 0 && !parts_[bias].named))
        return;
    const Part& one = parts_[kernel];
    if (!one.taken && one.name.starts_with("onnx::")) computed_.add(one.name, one.size);
}

void OnnxLearned::leave(OnnxPart part) {
    if (part == 0 || !is_leaf(parts_[part])) return;
    Part& one = parts_[part];
    if (!one.taken && !one.constant && one.size > 1.0) left_out_.add(one.name, one.size);
    one.taken = true;
}

std::vector<OnnxLearned::Correction> OnnxLearned::settle() {
    std::vector<Correction> out;
    for (Part& part : parts_)
        if (is_leaf(part) && part.left > 0.0 && part.left < part.size) {
            out.push_back({part.layer, part.left});
            part.left = 0.0;
        }
    if (largest_table_ == 0) return out;
    const Part& table = parts_[largest_table_];
    for (const auto& [layer, head] : heads_) {
        const Part& one = parts_[head];
        if (one.shape[0] != table.shape[1] || one.shape[1] != table.shape[0] || one.shape[0] == one.shape[1]) continue;
        turned_.add(one.name, one.size);
        out.push_back({layer, -one.size});
    }
    return out;
}

// Each below the 200 bytes that a sentence may have.
void OnnxLearned::tell(std::vector<std::string>& assumed) const {
    if (merged_.count > 0)
        assumed.push_back(
            fmt::format("equal weights that the file holds once count in each layer: {:.0f} parameters "
                        "fewer where they are tied ({})",
                        merged_.size, merged_.text()));
    if (shared_.count > 0)
        assumed.push_back(
            fmt::format("weights that several layers read count once: {:.0f} parameters more where they "
                        "only start equal ({})",
                        shared_.size, shared_.text()));
    if (turned_.count > 0)
        assumed.push_back(fmt::format("the head is tied to its embedding: {:.0f} parameters more where it is not ({})",
                                      turned_.size, turned_.text()));
    if (computed_.count > 0)
        assumed.push_back(
            fmt::format("weights that the exporter computed count by their sizes; with "
                        "do_constant_folding=False what they are made of counts ({})",
                        computed_.text()));
    if (doubtful_.count > 0)
        assumed.push_back(
            fmt::format("tables count as learned: up to {:.0f} parameters fewer where they are buffers ({})",
                        doubtful_.size, doubtful_.text()));
    if (left_out_.count > 0)
        assumed.push_back(fmt::format("taken for buffers: {:.0f} parameters more where they are learned ({})",
                                      left_out_.size, left_out_.text()));
}

}  // namespace dlcast
