// SPDX-License-Identifier: GPL-2.0-or-later
// GoogLeNet (Szegedy et al., arXiv:1409.4842, table 1; with batch norm and 3x3 for 5x5, as torchvision has it),
// Inception v3 (arXiv:1512.00567) and v4 (arXiv:1602.07261).
#include <fmt/format.h>

#include <array>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

struct Conv {
    std::int64_t out;
    Window window;
};
using Branch = std::vector<Conv>;

Conv one(std::int64_t out) { return {out, window(1)}; }
Conv three(std::int64_t out) { return {out, window(3, 1, 1)}; }
Conv halving(std::int64_t out) { return {out, window(3, 2)}; }
Conv sided(std::int64_t out, std::int64_t height, std::int64_t width) { return {out, sided_window(height, width)}; }

// A module: branches read one tensor and are joined.
class Module {
public:
    Module(ModelBuilder& b, std::string at) : b_(b), at_(std::move(at)), in_(b.shape()) {}

    Module& branch(const Branch& convs) {
        b_.continue_from(in_);
        return go_on(convs);
    }
    Module& avg_pool(const Branch& convs) {
        b_.continue_from(in_);
        b_.avg_pool(at_ + ".pool", window(3, 1, 1));
        return go_on(convs);
    }
    Module& max_pool(const Window& w, const Branch& convs) {
        b_.continue_from(in_);
        b_.max_pool(at_ + ".pool", w);
        return go_on(convs);
    }
    // The last convolution stands twice, 1x3 and 3x1, side by side.
    Module& forked(const Branch& convs, std::int64_t out) {
        b_.continue_from(in_);
        add(convs);
        const Shape trunk = b_.shape();
        for (const bool upright : {false, true}) {
            b_.continue_from(trunk);
            add({sided(out, upright ? 3 : 1, upright ? 1 : 3)});
        }
        channels_ += 2 * out;
        return *this;
    }
    void join() {
        if (!b_.failed()) b_.concat(at_ + ".concat", channels_ - b_.shape()[0]);
    }

private:
    void add(const Branch& convs) {
        for (const Conv& conv : convs) add_conv_norm(b_, fmt::format("{}.{}", at_, ++number_), conv.out, conv.window);
    }
    Module& go_on(const Branch& convs) {
        add(convs);
        channels_ += b_.shape()[0];
        return *this;
    }

    ModelBuilder& b_;
    std::string at_;
    Shape in_;
    std::int64_t channels_ = 0;
    int number_ = 0;
};

void add_v3_aux(ModelBuilder& b, std::int64_t classes) {
    const Shape in = b.shape();
    b.avg_pool("aux.pool", window(5, 3));
    add_conv_norm(b, "aux.conv0", 128, window(1));
    add_conv_norm(b, "aux.conv1", 768, window(5));
    if (b.failed()) return;
    b.global_avg_pool("aux.avgpool");
    b.flatten("aux.flatten");
    b.linear("aux.fc", classes);
    b.loss("aux.loss");
    b.continue_from(in);
}

void add_v3_stem(ModelBuilder& b) {
    add_conv_norm(b, "stem.1", 32, window(3, 2));
    add_conv_norm(b, "stem.2", 32, window(3));
    add_conv_norm(b, "stem.3", 64, window(3, 1, 1));
}

void add_v4_stem(ModelBuilder& b) {
    add_v3_stem(b);
    Module(b, "stem.4").max_pool(window(3, 2), {}).branch({halving(96)}).join();
    Module(b, "stem.5")
        .branch({one(64), {96, window(3)}})
        .branch({one(64), sided(64, 1, 7), sided(64, 7, 1), {96, window(3)}})
        .join();
    Module(b, "stem.6").branch({halving(192)}).max_pool(window(3, 2), {}).join();
}

}  // namespace

Result<ModelSpec> build_googlenet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const auto pool = [](std::int64_t kernel) {
        Window w = window(kernel, 2);
        w.ceil_mode = true;
        return w;
    };
    // 1x1, 3x3 reduced and whole, 5x5 reduced and whole, pooled; 0: a pooling of that kernel.
    static constexpr std::array<std::array<std::int64_t, 6>, 11> rows = {{{64, 96, 128, 16, 32, 32},
                                                                          {128, 128, 192, 32, 96, 64},
                                                                          {0, 3},
                                                                          {192, 96, 208, 16, 48, 64},
                                                                          {160, 112, 224, 24, 64, 64},
                                                                          {128, 128, 256, 24, 64, 64},
                                                                          {112, 144, 288, 32, 64, 64},
                                                                          {256, 160, 320, 32, 128, 128},
                                                                          {0, 2},
                                                                          {256, 160, 320, 32, 128, 128},
                                                                          {384, 192, 384, 48, 128, 128}}};
    ModelBuilder b({3, image_size, image_size});
    add_conv_norm(b, "conv1", 64, window(7, 2, 3));
    b.max_pool("pool1", pool(3));
    add_conv_norm(b, "conv2", 64, window(1));
    add_conv_norm(b, "conv3", 192, window(3, 1, 1));
    b.max_pool("pool2", pool(3));
    int number = 0;
    for (const auto& row : rows) {
        const std::string at = fmt::format("inception{}", number);
        if (row[0] == 0) {
            b.max_pool(at, pool(row[1]));
        } else {
            b.set_block(number);
            Module(b, at)
                .branch({one(row[0])})
                .branch({one(row[1]), three(row[2])})
                .branch({one(row[3]), three(row[4])})
                .max_pool(window(3, 1, 1), {one(row[5])})
                .join();
        }
        b.set_block(-1);
        ++number;
    }
    return finish_classifier(b, name, "inception", classes, true);
}

Result<ModelSpec> build_inception_v3(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    add_v3_stem(b);
    b.max_pool("pool1", window(3, 2));
    add_conv_norm(b, "stem.4", 80, window(1));
    add_conv_norm(b, "stem.5", 192, window(3));
    b.max_pool("pool2", window(3, 2));
    int block = 0;
    const auto module = [&](const char* at) {
        b.set_block(block++);
        return Module(b, at);
    };
    const std::pair<const char*, std::int64_t> pooled[] = {{"5b", 32}, {"5c", 64}, {"5d", 64}};
    for (const auto& [at, pool] : pooled)
        module(at)
            .branch({one(64)})
            .branch({one(48), {64, window(5, 1, 2)}})
            .branch({one(64), three(96), three(96)})
            .avg_pool({one(pool)})
            .join();
    module("6a").branch({halving(384)}).branch({one(64), three(96), halving(96)}).max_pool(window(3, 2), {}).join();
    const std::pair<const char*, std::int64_t> sevens[] = {{"6b", 128}, {"6c", 160}, {"6d", 160}, {"6e", 192}};
    for (const auto& [at, c] : sevens)
        module(at)
            .branch({one(192)})
            .branch({one(c), sided(c, 1, 7), sided(192, 7, 1)})
            .branch({one(c), sided(c, 7, 1), sided(c, 1, 7), sided(c, 7, 1), sided(192, 1, 7)})
            .avg_pool({one(192)})
            .join();
    b.set_block(-1);
    add_v3_aux(b, classes);
    module("7a")
        .branch({one(192), halving(320)})
        .branch({one(192), sided(192, 1, 7), sided(192, 7, 1), halving(192)})
        .max_pool(window(3, 2), {})
        .join();
    for (const char* at : {"7b", "7c"})
        module(at)
            .branch({one(320)})
            .forked({one(384)}, 384)
            .forked({one(448), three(384)}, 384)
            .avg_pool({one(192)})
            .join();
    b.set_block(-1);
    return finish_classifier(b, name, "inception", classes, true);
}

Result<ModelSpec> build_inception_v4(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    add_v4_stem(b);
    int block = 0;
    const auto module = [&](const char* which, int i) {
        b.set_block(block++);
        return Module(b, fmt::format("{}.{}", which, i));
    };
    for (int i = 0; i < 4; ++i)
        module("a", i)
            .branch({one(96)})
            .branch({one(64), three(96)})
            .branch({one(64), three(96), three(96)})
            .avg_pool({one(96)})
            .join();
    module("reduce_a", 0)
        .branch({halving(384)})
        .branch({one(192), three(224), halving(256)})
        .max_pool(window(3, 2), {})
        .join();
    for (int i = 0; i < 7; ++i)
        module("b", i)
            .branch({one(384)})
            .branch({one(192), sided(224, 1, 7), sided(256, 7, 1)})
            .branch({one(192), sided(192, 7, 1), sided(224, 1, 7), sided(224, 7, 1), sided(256, 1, 7)})
            .avg_pool({one(128)})
            .join();
    module("reduce_b", 0)
        .branch({one(192), halving(192)})
        .branch({one(256), sided(256, 1, 7), sided(320, 7, 1), halving(320)})
        .max_pool(window(3, 2), {})
        .join();
    for (int i = 0; i < 3; ++i)
        module("c", i)
            .branch({one(256)})
            .forked({one(384)}, 256)
            .forked({one(384), sided(448, 3, 1), sided(512, 1, 3)}, 256)
            .avg_pool({one(256)})
            .join();
    b.set_block(-1);
    return finish_classifier(b, name, "inception", classes, true);
}

}  // namespace dlcast
