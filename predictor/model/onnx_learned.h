// SPDX-License-Identifier: GPL-2.0-or-later
// The learned tensors of an ONNX graph, whatever its nodes make of them: each number counts in the first layer that
// reads it. Shared by onnx*.cpp alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace dlcast {

using Sizes = std::vector<std::int64_t>;

/// What a tensor is made of: one learned tensor or several. 0: nothing that is learned.
using OnnxPart = std::uint32_t;

/// What a layer does with a learned tensor.
enum class OnnxUse { table, kernel, other };

class OnnxLearned {
public:
    /// A tensor of real numbers of the file. `constant`: it stands inside a node, where exporters keep what nobody
    /// learns; it counts as a kernel alone.
    OnnxPart tensor(const std::string& name, const Sizes& shape, bool constant = false);
    /// An Identity of a learned tensor. PyTorch writes tensors of equal values once, all others so: a vector, and what
    /// has the name of a parameter, is learned apart; for a matrix without one the module that reads it tells.
    OnnxPart copy(OnnxPart of, const std::string& name);
    /// Of a tensor computed of both.
    OnnxPart joined(OnnxPart a, OnnxPart b);

    struct Taken {
        double count = 0.0;   // numbers that no layer had counted before
        bool shared = false;  // some had
    };
    struct Reader {
        std::size_t layer = 0;
        std::string node;  // its name: "/layers.1/linear1/MatMul"
        OnnxUse use = OnnxUse::other;
        double elements = 0.0;   // of the tensor that is read
        bool piece = false;      // a slice: so many numbers, the rest is for others
        bool constants = false;  // count, too
    };
    /// Counts `part` for a layer. Over all calls the work is linear in the parts.
    Taken take(OnnxPart part, const Reader& reader);
    /// A name for the sentence of tensors that may be learned or not.
    void doubt(OnnxPart part);
    /// The kernel of a layer to whose weight PyTorch leaves its name, unless it was computed from others (weight norm).
    void expect_name(OnnxPart kernel, OnnxPart bias);
    /// A tensor that is subtracted or divided by: statistics of the data.
    void leave(OnnxPart part);

    struct Correction {
        std::size_t layer;
        double count;
    };
    /// After the last take: rows that no slice read, a table's turned copy.
    std::vector<Correction> settle();
    /// What was decided without knowing, for "assumed".
    void tell(std::vector<std::string>& assumed) const;

private:
    struct Leaf {
        std::string name;
        Sizes shape;
        double size = 0.0, left = 0.0;
        std::size_t layer = 0;   // that read it last
        std::uint32_t root = 0;  // the leaf that it is equal to, or itself
        bool constant = false, taken = false, table = false;
        bool named = false, open = false;         // its name is its owner's; a copy without a parameter's name
        std::string pattern;                      // of a root: the modules that may have equal ones
        std::unordered_set<std::string> modules;  // of a root: who reads it or an equal one
    };
    // A leaf, or a tensor computed of two others: of these a graph may have many.
    struct Part {
        std::array<OnnxPart, 2> from = {};
        std::uint32_t leaf = 0;
        bool taken = false;
    };
    struct Names {
        std::size_t count = 0, distinct = 0;
        double size = 0.0;
        std::string last;
        std::vector<std::string> first;
        void add(const std::string& name, double numbers);
        std::string text() const;
    };

    Leaf* leaf_of(OnnxPart part);
    OnnxPart add(Leaf leaf);
    Taken take_leaf(std::uint32_t self, const Reader& reader, bool whole);
    void meet(std::uint32_t self, const std::string& module, OnnxUse use);
    void leave(Leaf& leaf);

    std::vector<Leaf> leaves_;
    std::vector<Part> parts_ = std::vector<Part>(1);
    std::vector<std::pair<std::size_t, std::uint32_t>>
        heads_;  // layers, and leaves: products by matrices without a name
    std::optional<std::uint32_t> largest_table_;
    Names merged_, shared_, turned_, computed_, doubtful_, left_out_;
};

/// "layers.1/linear1" of "/layers.1/linear1_2/MatMul_3": the module that a node of PyTorch's belongs to, whichever call
/// of it. Empty: its name does not tell.
std::string onnx_module(const std::string& node);

}  // namespace dlcast
