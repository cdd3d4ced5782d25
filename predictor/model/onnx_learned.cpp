// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/onnx_learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t longest_name = 40, most_names_bytes = 64;  // of a sentence

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
    if (distinct > 0 && name == last) return;
    ++distinct;
    last = name;
    const std::string line = one_line(name, longest_name);
    if (first.size() + 1 == distinct && fmt::format("{}, {}", fmt::join(first, ", "), line).size() <= most_names_bytes)
        first.push_back(line);
}

std::string OnnxLearned::Names::text() const {
    return fmt::format("{}{}", fmt::join(first, ", "), distinct > first.size() ? ", ..." : "");
}

OnnxLearned::Leaf* OnnxLearned::leaf_of(OnnxPart part) {
    return part == 0 || parts_[part].from[0] != 0 ? nullptr : &leaves_[parts_[part].leaf];
}

OnnxPart OnnxLearned::add(Leaf leaf) {
    parts_.push_back({{}, static_cast<std::uint32_t>(leaves_.size())});
    leaves_.push_back(std::move(leaf));
    return static_cast<OnnxPart>(parts_.size() - 1);
}

OnnxPart OnnxLearned::tensor(const std::string& name, const Sizes& shape, bool constant) {
    Leaf leaf;
    leaf.name = name;
    leaf.shape = shape;
    leaf.size = 1.0;
    for (const std::int64_t size : shape) leaf.size *= static_cast<double>(size);
    leaf.left = leaf.size;
    leaf.constant = constant;
    leaf.named = has_owner(name);
    leaf.root = static_cast<std::uint32_t>(leaves_.size());
    return add(std::move(leaf));
}

OnnxPart OnnxLearned::copy(OnnxPart of, const std::string& name) {
    const Leaf* equal = leaf_of(of);
    if (!equal || equal->constant) return of;
    Leaf leaf;
    leaf.name = name;
    leaf.shape = equal->shape;
    leaf.size = leaf.left = equal->size;
    leaf.root = equal->root;
    leaf.named = has_owner(name);
    leaf.open = !is_path(name);
    return add(std::move(leaf));
}

OnnxPart OnnxLearned::joined(OnnxPart a, OnnxPart b) {
    if (a == 0 || b == 0 || a == b) return a == 0 ? b : a;
    parts_.push_back({{a, b}});
    return static_cast<OnnxPart>(parts_.size() - 1);
}

// The same module, called again, reads the same weight under another name; its neighbour in a list of modules reads
// one that is equal. Whoever else reads it is tied, and a head whose weight equals the table is whatever its name.
void OnnxLearned::meet(std::uint32_t self, const std::string& module, OnnxUse use) {
    Leaf& leaf = leaves_[self];
    const Leaf& root = leaves_[leaf.root];
    const bool own = leaf.root == self;
    if (!own && root.table && use == OnnxUse::kernel) {
        leaf.left = 0.0;
    } else if (!own && !leaf.open) {
        merged_.add(leaf.name, leaf.size);
    } else if (!root.modules.empty()) {
        const bool apart = !module.empty() && !root.modules.contains(module) && pattern_of(module) == root.pattern;
        if (apart)
            merged_.add(module, leaf.size);
        else
            leaf.left = 0.0;
    }
}

OnnxLearned::Taken OnnxLearned::take_leaf(std::uint32_t self, const Reader& reader, bool whole) {
    Leaf& leaf = leaves_[self];
    if (leaf.constant && !reader.constants) return {};
    if (!leaf.constant && is_buffer(leaf.name)) {
        leave(leaf);
        return {};
    }
    const bool matrix = sides_of(leaf.shape) > 1, first = !leaf.taken;
    bool known = true;
    Leaf& root = leaves_[leaf.root];
    if (matrix) {
        const std::string module = onnx_module(reader.node);
        if (first) meet(self, module, reader.use);
        if (root.modules.empty()) root.pattern = pattern_of(module);
        known = !root.modules.insert(module).second && !module.empty();
    }
    leaf.taken = true;
    if (reader.use == OnnxUse::table && leaf.shape.size() == 2) {
        root.table = true;
        if (!largest_table_ || leaf.shape[0] > leaves_[*largest_table_].shape[0]) largest_table_ = self;
    }
    const double count = whole ? leaf.left : std::min(leaf.left, reader.elements);
    if (count <= 0.0) {
        if (matrix && !known && !root.table) shared_.add(leaf.name, leaf.size);
        return {0.0, leaf.size > 0.0};
    }
    if (first && whole && reader.use == OnnxUse::kernel && !leaf.named && leaf.shape.size() == 2)
        heads_.emplace_back(reader.layer, self);
    leaf.left -= count;
    leaf.layer = reader.layer;
    return {count, false};
}

OnnxLearned::Taken OnnxLearned::take(OnnxPart part, const Reader& reader) {
    Taken out;
    if (part == 0) return out;
    if (leaf_of(part)) return take_leaf(parts_[part].leaf, reader, !reader.piece);
    std::vector<OnnxPart> open = {part};
    bool several = false;
    while (!open.empty()) {
        Part& one = parts_[open.back()];
        open.pop_back();
        if (one.from[0] != 0) {
            out.shared = out.shared || one.taken;
            if (!one.taken) open.insert(open.end(), one.from.begin(), one.from.end());
            one.taken = true;
            continue;
        }
        const Taken taken = take_leaf(one.leaf, reader, true);
        // A mask of a weight's size is a number for each of its numbers, learned or not.
        const bool whole = taken.count > 1.0 && taken.count >= reader.elements;
        if (several && whole) doubtful_.add(leaves_[one.leaf].name, taken.count);
        several = several || whole;
        out.count += taken.count;
        out.shared = out.shared || taken.shared;
    }
    return out;
}

void OnnxLearned::doubt(OnnxPart part) {
    const Leaf* leaf = leaf_of(part);
    if (leaf && !leaf->taken && !leaf->constant && sides_of(leaf->shape) > 1 && !is_learned_name(leaf->name) &&
        !is_buffer(leaf->name))
        doubtful_.add(leaf->name, leaf->size);
}

// Batch norms that the exporter folded into a convolution leave a bias without a name, too.
void OnnxLearned::expect_name(OnnxPart kernel, OnnxPart bias) {
    const Leaf* leaf = leaf_of(kernel);
    const Leaf* beside = leaf_of(bias);
    if (!leaf || leaf->taken || (bias != 0 && !(beside && beside->named))) return;
    if (leaf->name.starts_with("onnx::")) computed_.add(leaf->name, leaf->size);
}

void OnnxLearned::leave(OnnxPart part) {
    if (Leaf* leaf = leaf_of(part)) leave(*leaf);
}

void OnnxLearned::leave(Leaf& leaf) {
    if (!leaf.taken && !leaf.constant && leaf.size > 1.0) left_out_.add(leaf.name, leaf.size);
    leaf.taken = true;
}

std::vector<OnnxLearned::Correction> OnnxLearned::settle() {
    std::vector<Correction> out;
    for (Leaf& leaf : leaves_)
        if (leaf.left > 0.0 && leaf.left < leaf.size) out.push_back({leaf.layer, std::exchange(leaf.left, 0.0)});
    if (!largest_table_) return out;
    const Sizes& table = leaves_[*largest_table_].shape;
    for (const auto& [layer, head] : heads_) {
        const Leaf& leaf = leaves_[head];
        if (leaf.shape[0] != table[1] || leaf.shape[1] != table[0] || table[0] == table[1]) continue;
        turned_.add(leaf.name, leaf.size);
        out.push_back({layer, -leaf.size});
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
