// SPDX-License-Identifier: GPL-2.0-or-later
// SqueezeNet (Iandola et al., arXiv:1602.07360, table 1; 1.1: its repository) and ShuffleNetV2 (Ma et al.,
// arXiv:1807.11164, table 5), as torchvision builds them.
#include <fmt/format.h>

#include <array>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

void add_fire(ModelBuilder& b, const std::string& at, std::int64_t squeezed, std::int64_t expanded) {
    const auto conv = [&](const char* which, std::int64_t out, const Window& w) {
        b.conv(at + which, out, w, true);
        b.activation(at + which + std::string(".relu"), "relu");
    };
    conv(".squeeze", squeezed, window(1));
    const Shape in = b.shape();
    conv(".expand1x1", expanded, window(1));
    b.continue_from(in);
    conv(".expand3x3", expanded, window(3, 1, 1));
    b.concat(at + ".concat", expanded);
}

// The basic unit works on half of the channels; the one that halves the image on all of them, twice.
void add_shuffle_unit(ModelBuilder& b, const std::string& at, std::int64_t out, std::int64_t stride) {
    const Shape in = b.shape();
    const std::int64_t half = out / 2;
    if (stride > 1) {
        add_conv_norm(b, at + ".left.depthwise", in[0], window(3, stride, 1), "", in[0]);
        add_conv_norm(b, at + ".left.project", half, window(1));
        b.continue_from(in);
    } else {
        b.reshape(at + ".half", {half, in[1], in[2]});
    }
    add_conv_norm(b, at + ".expand", half, window(1));
    add_conv_norm(b, at + ".depthwise", half, window(3, stride, 1), "", half);
    add_conv_norm(b, at + ".project", half, window(1));
    b.concat(at + ".concat", half);
}

}  // namespace

Result<ModelSpec> build_squeezenet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const bool older = name == "squeezenet1_0";
    const auto pool = [] {
        Window w = window(3, 2);
        w.ceil_mode = true;
        return w;
    }();
    ModelBuilder b({3, image_size, image_size});
    b.conv("conv1", older ? 96 : 64, older ? window(7, 2) : window(3, 2), true);
    b.activation("relu1", "relu");
    b.max_pool("pool0", pool);
    static constexpr std::array<std::int64_t, 8> squeezed = {16, 16, 32, 32, 48, 48, 64, 64};
    for (std::size_t i = 0; i < squeezed.size() && !b.failed(); ++i) {
        b.set_block(static_cast<int>(i));
        add_fire(b, fmt::format("fire{}", i + 2), squeezed[i], 4 * squeezed[i]);
        b.set_block(-1);
        const bool pools = older ? i == 2 || i == 6 : i == 1 || i == 3;
        if (pools) b.max_pool(fmt::format("pool{}", i + 2), pool);
    }
    b.dropout("drop");
    b.conv("classifier", classes, window(1), true);
    b.activation("classifier.relu", "relu");
    b.global_avg_pool("avgpool");
    if (b.failed()) return invalid_argument(b.fault());
    b.flatten("flatten");
    b.loss("loss");
    return b.finish(name, "squeezenet");
}

Result<ModelSpec> build_shufflenet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    std::array<std::int64_t, 3> widths = {116, 232, 464};
    if (name.ends_with("x0_5")) widths = {48, 96, 192};
    if (name.ends_with("x1_5")) widths = {176, 352, 704};
    if (name.ends_with("x2_0")) widths = {244, 488, 976};
    static constexpr std::array<int, 3> repeats = {4, 8, 4};
    ModelBuilder b({3, image_size, image_size});
    add_conv_norm(b, "conv1", 24, window(3, 2, 1));
    b.max_pool("maxpool", window(3, 2, 1));
    int block = 0;
    for (std::size_t stage = 0; stage < widths.size(); ++stage)
        for (int i = 0; i < repeats[stage] && !b.failed(); ++i) {
            b.set_block(block++);
            add_shuffle_unit(b, fmt::format("stage{}.{}", stage + 2, i), widths[stage], i == 0 ? 2 : 1);
        }
    b.set_block(-1);
    add_conv_norm(b, "conv5", name.ends_with("x2_0") ? 2048 : 1024, window(1));
    return finish_classifier(b, name, "shufflenet", classes);
}

}  // namespace dlcast
