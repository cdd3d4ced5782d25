// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/mismatch.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/model/dataset.h"

namespace dlcast {
namespace {

// Classifiers of the zoo halve an image four or five times.
constexpr std::int64_t least_image_size = 16;

// Whether a window of several pixels slides over what has become one pixel.
bool shrinks_to_nothing(const ModelSpec& model) {
    return model.image_size > 1 && std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& layer) {
               return layer.kind == LayerKind::conv2d && layer.input.size() == 3 && layer.input[1] == 1 &&
                      layer.input[2] == 1 && layer.kernel_h * layer.kernel_w > 1;
           });
}

// Of known data sets, those of images state neither a sequence length nor tokens.
std::string wrong_data(const Workload& w) {
    const auto known = find_dataset(w.dataset.name);
    if (!known) return "";
    const bool is_text = known->seq_len > 0 || known->tokens > 0.0;
    const bool reads_text = w.model.seq_len > 0, reads_images = w.model.image_size > 0;
    if (reads_text && !reads_images && !is_text)
        return fmt::format("{} holds images, and {} reads text; is another data set meant?", w.dataset.name,
                           w.model.name);
    if (reads_images && !reads_text && is_text)
        return fmt::format("{} holds text, and {} reads images; is another data set meant?", w.dataset.name,
                           w.model.name);
    return "";
}

// Layers that are written for shapes of their own keep them, and some networks have one size.
void add_fixed_sizes(const TrainingRead& read, const ModelSpec& model, std::vector<std::string>& out) {
    const auto add = [&](const char* key, std::int64_t stated, std::int64_t written) {
        if (stated == 0 || written == 0 || stated == written) return;
        if (!model.family.empty())
            out.push_back(fmt::format("{} {} has no effect: {} reads {}", key, stated, model.name, written));
        else
            out.push_back(
                fmt::format("{0} {1} has no effect: the layers of {2} are written for {3}; write them again "
                            "for {0} {1}",
                            key, stated, model.name.empty() ? "the model" : model.name, written));
    };
    add("seq_len", read.seq_len, model.seq_len);
    add("image_size", read.image_size, model.image_size);
}

// Degrees that nothing in the model or layout uses.
void add_idle_degrees(const Workload& w, std::vector<std::string>& out) {
    const Parallel& p = w.training.parallel;
    const bool has_experts =
        std::any_of(w.model.layers.begin(), w.model.layers.end(), [](const Layer& layer) { return layer.experts > 0; });
    if (p.ep > 1 && !has_experts)
        out.push_back(fmt::format("ep {} has no effect: {} has no experts", p.ep, w.model.name));
    if (p.sp && p.tp == 1) out.push_back("sp has no effect without tensor ranks; add \"tp\" or take it out");
}

}  // namespace

std::vector<std::string> find_mismatches(const TrainingRead& read, const Workload& w) {
    std::vector<std::string> out;
    if (std::string wrong = wrong_data(w); !wrong.empty()) out.push_back(std::move(wrong));
    if (read.seq_len > 0 && w.model.seq_len == 0 && w.model.image_size > 0)
        out.push_back(fmt::format("seq_len {} has no effect: {} reads images", read.seq_len, w.model.name));
    if (read.image_size > 0 && w.model.image_size == 0 && w.model.seq_len > 0)
        out.push_back(fmt::format("image_size {} has no effect: {} reads text", read.image_size, w.model.name));
    add_fixed_sizes(read, w.model, out);
    if (w.model.image_size > 0 && w.model.image_size < least_image_size && shrinks_to_nothing(w.model))
        out.push_back(fmt::format("images of {} pixels shrink to nothing inside {}; is image_size meant in pixels?",
                                  w.model.image_size, w.model.name));
    add_idle_degrees(w, out);
    if (!w.training.eval_every.empty() && w.dataset.validation_samples <= 0)
        out.push_back(
            "eval_every is set, but the size of the validation set is unknown, so validation takes no time here; add "
            "\"validation_samples\" to \"dataset\"");
    return out;
}

}  // namespace dlcast
