// SPDX-License-Identifier: GPL-2.0-or-later
// One call of a Keras layer, and the layers of dlcast that it becomes. Shared by keras*.cpp alone.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

/// One to three dimensions, kept in place: a file of thousands of layers is read while sbatch waits.
class KerasShape {
public:
    KerasShape() = default;
    KerasShape(std::initializer_list<std::int64_t> sizes) {
        for (const std::int64_t size : sizes) push_back(size);
    }

    static KerasShape filled(std::size_t rank, std::int64_t size) {
        KerasShape out;
        while (out.rank_ < rank) out.push_back(size);
        return out;
    }

    std::size_t size() const { return rank_; }
    std::int64_t& operator[](std::size_t i) { return sizes_[i]; }
    std::int64_t operator[](std::size_t i) const { return sizes_[i]; }
    std::int64_t& back() { return sizes_[rank_ - 1]; }
    std::int64_t back() const { return sizes_[rank_ - 1]; }
    const std::int64_t* begin() const { return sizes_.data(); }
    const std::int64_t* end() const { return sizes_.data() + rank_; }
    void push_back(std::int64_t size) {
        if (rank_ < sizes_.size()) sizes_[rank_++] = size;
    }
    bool operator==(const KerasShape&) const = default;  // sizes behind the rank are 0

private:
    std::array<std::int64_t, 3> sizes_{};
    std::size_t rank_ = 0;
};

double elements(const KerasShape& shape);
std::string to_string(const KerasShape& shape);

/// What a layer leaves. `shape` as Keras orders it, the batch left out: [height, width, channels] or, of a model that
/// counts channels first, [channels, height, width]; `name` of the written layer that leaves it.
struct KerasTensor {
    std::string name;
    KerasShape shape;
};

/// The layers written so far.
struct KerasOutput {
    const std::string& source;
    bool channels_first = false;
    Value layers = Value::array();
    std::string previous = "input";                     // the layer written last
    std::unordered_set<std::string> names = {"input"};  // of written layers

    /// `theirs` as dlcast orders it: channels first.
    KerasShape ours(const KerasShape& theirs) const;
    /// `name`, made different from all names before.
    std::string unique(std::string name);
    Error fault(const Value& at, const std::string& text) const;
};

/// Reads the config of a layer and writes what it becomes. The first fault is kept.
class KerasCall {
public:
    KerasCall(KerasOutput& written, const Value& place, std::string layer_kind, const Value& layer_config)
        : out(written), kind(std::move(layer_kind)), config(&layer_config), layer_(place) {}

    KerasOutput& out;
    std::string kind, name;
    const Value* config;
    std::vector<KerasTensor> in;
    std::vector<std::pair<std::string, KerasTensor>> named;  // tensors given by keyword
    const Value* keywords = nullptr;                         // what else was given so
    bool frozen = false, tied = false;                       // weights: not trained; those of an earlier call
    std::vector<KerasTensor> left;                           // what comes out

    // Keys of the config; null is absent.
    const Value* value(const char* key) const;
    /// 1 to 10^9; 1 where it is missing or wrong, and the fault is kept.
    std::int64_t size(const char* key);
    std::int64_t size_or(const char* key, std::int64_t standard);
    /// One number for all sides, or one for each.
    KerasShape sides(const char* key, std::size_t count, std::int64_t standard);
    bool flag(const char* key, bool standard);
    std::string text(const char* key, const char* standard) const;
    /// Axes as counted in a shape without the batch, which Keras counts too; nothing where one does not exist.
    std::optional<std::vector<std::size_t>> axes(const char* key, std::int64_t standard, std::size_t rank);

    const KerasShape& shape() const { return in.front().shape; }
    bool needs_rank(std::size_t rank, const char* what);

    /// The next layer written reads `tensor`.
    void read(const KerasTensor& tensor);
    /// Writes a layer "type" that reads the tensor left last, seen as `seen` (dlcast's order), and leaves `result`.
    Value& put(const char* type, const KerasShape& seen, const KerasShape& result, std::string_view part = "");
    /// The same, saying the shape that it reads, wherever it comes from: a join without names, a part of a tensor.
    Value& put_at(const char* type, const KerasShape& seen, std::string_view part = "");
    /// The same of a layer with weights.
    Value& put_learned(const char* type, const KerasShape& seen, const KerasShape& result, std::string_view part = "");
    /// Keras 3's LoRA (kernel and table frozen, two thin matrices beside them): its rank; 0: none.
    std::int64_t lora_rank() { return size_or("lora_rank", 0); }
    /// Adds the adapter that was written last to the tensor that the frozen layer left: with the `bias` that both
    /// train.
    void put_lora_sum(const KerasShape& result, std::int64_t bias);
    /// A layer that joins `tensors` of one shape.
    void put_join(const char* type, const std::vector<KerasTensor>& tensors, const KerasShape& result);
    /// The activation that the config names, as part of the layer just written.
    void set_activation(Value& layer);
    /// The call leaves a tensor of this shape (Keras's order) where the last written layer left its own.
    void leave(const KerasShape& theirs);

    void fail(const std::string& text) { fail_at(layer_, text); }
    void fail_key(const char* key, const std::string& text);
    bool failed() const { return fault_.has_value(); }
    const Error& fault() const { return *fault_; }
    const Value& place() const { return layer_; }

private:
    void fail_at(const Value& at, const std::string& text);

    const Value& layer_;
    KerasTensor source_;  // `shape` in dlcast's order
    std::optional<Error> fault_;
    Value discarded_;  // written to after a fault
};

/// dlcast's name of a Keras activation; nothing: unknown. "linear" is none.
std::optional<std::string> keras_activation(const Value& activation);

/// What writes a call; nullptr: no such layer.
using KerasRule = void (*)(KerasCall& call);
KerasRule find_keras_rule(const std::string& kind);
KerasRule find_keras_window_rule(const std::string& kind);    // layers that slide a window, pad, crop and resize
KerasRule find_keras_sequence_rule(const std::string& kind);  // recurrent layers, embeddings, attention

}  // namespace dlcast
