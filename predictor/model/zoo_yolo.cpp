// SPDX-License-Identifier: GPL-2.0-or-later
// Darknet-53 and YOLOv3 (Redmon & Farhadi, arXiv:1804.02767, table 1), YOLOv5 and YOLOv8 (release 6 and 8 of their
// public configurations; widths and depths scale with the letter).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

std::vector<Shape> add_darknet(ModelBuilder& b) {
    const auto conv = [&](const std::string& at, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
        add_conv_norm(b, at, out, window(kernel, stride, kernel / 2), "leaky_relu");
    };
    std::vector<Shape> stages;
    conv("stem", 32, 3, 1);
    static constexpr std::array<int, 5> repeats = {1, 2, 8, 8, 4};
    std::int64_t width = 64;
    int block = 0;
    for (std::size_t stage = 0; stage < repeats.size(); ++stage, width *= 2) {
        conv(fmt::format("down{}", stage + 1), width, 3, 2);
        for (int i = 0; i < repeats[stage] && !b.failed(); ++i) {
            const std::string at = fmt::format("stage{}.{}", stage + 1, i);
            b.set_block(block++);
            conv(at + ".1", width / 2, 1, 1);
            conv(at + ".2", width, 3, 1);
            b.add(at + ".add");
        }
        b.set_block(-1);
        stages.push_back(b.shape());
    }
    return stages;
}

// What the sizes n, s, m, l, x of a generation differ in.
struct Scale {
    double depth, width;
    std::int64_t most_width;
};

Scale scale_of(const std::string& name) {
    const bool eighth = name.starts_with("yolov8");
    switch (name.back()) {
        case 'n':
            return {0.33, 0.25, 1024};
        case 's':
            return {0.33, 0.50, 1024};
        case 'm':
            return {0.67, 0.75, eighth ? 768 : 1024};
        case 'l':
            return {1.00, 1.00, eighth ? 512 : 1024};
        default:
            return {eighth ? 1.00 : 1.33, 1.25, eighth ? 512 : 1024};
    }
}

class Yolo {
public:
    Yolo(ModelBuilder& b, const std::string& name, std::int64_t classes)
        : b_(b), eighth_(name.starts_with("yolov8")), scale_(scale_of(name)), classes_(classes) {}

    // Returns the number of predictions.
    double add() {
        conv("stem", 64, eighth_ ? window(3, 2, 1) : window(6, 2, 2));
        std::vector<Shape> skips;
        static constexpr std::array<int, 4> fifth = {3, 6, 9, 3}, eighth = {3, 6, 6, 3};
        std::int64_t width = 128;
        for (std::size_t i = 0; i < 4; ++i, width *= 2) {
            conv(fmt::format("down{}", i), width, window(3, 2, 1));
            stage(fmt::format("stage{}", i), width, (eighth_ ? eighth : fifth)[i], true);
            if (i == 1 || i == 2) skips.push_back(b_.shape());
        }
        pyramid_pooling();
        const std::vector<Shape> levels = neck(skips);
        return b_.failed() ? 0.0 : detect(levels);
    }

private:
    std::int64_t width_of(std::int64_t width) const {
        const double scaled = static_cast<double>(std::min(width, scale_.most_width)) * scale_.width;
        return static_cast<std::int64_t>(std::ceil(scaled / 8.0)) * 8;
    }

    void conv(const std::string& at, std::int64_t width, const Window& w) { exact_conv(at, width_of(width), w); }
    void exact_conv(const std::string& at, std::int64_t out, const Window& w) { add_conv_norm(b_, at, out, w, "silu"); }

    void stage(const std::string& at, std::int64_t width, int repeat, bool shortcut) {
        const int count = std::max(1, static_cast<int>(std::lround(repeat * scale_.depth)));
        const std::int64_t out = width_of(width), half = out / 2;
        const Shape in = b_.shape();
        b_.set_block(block_++);
        exact_conv(at + ".1", eighth_ ? out : half, window(1));
        if (b_.failed()) return;
        const Shape part{half, b_.shape()[1], b_.shape()[2]};
        b_.continue_from(part);
        for (int i = 0; i < count && !b_.failed(); ++i) {
            const std::string name = fmt::format("{}.m{}", at, i);
            exact_conv(name + ".1", half, eighth_ ? window(3, 1, 1) : window(1));
            exact_conv(name + ".2", half, window(3, 1, 1));
            if (shortcut) b_.add(name + ".add");
        }
        if (!eighth_) {
            b_.continue_from(in);
            exact_conv(at + ".2", half, window(1));
        }
        b_.concat(at + ".concat", eighth_ ? (count + 1) * half : half);
        exact_conv(at + ".3", out, window(1));
        b_.set_block(-1);
    }

    void pyramid_pooling() {
        const std::int64_t width = b_.shape()[0];
        exact_conv("sppf.1", width / 2, window(1));
        for (int i = 0; i < 3; ++i) b_.max_pool(fmt::format("sppf.pool{}", i), window(5, 1, 2));
        b_.concat("sppf.concat", 3 * (width / 2));
        exact_conv("sppf.2", width, window(1));
    }

    std::vector<Shape> neck(const std::vector<Shape>& skips) {
        std::vector<Shape> kept;
        const auto up = [&](const std::string& at, std::int64_t width, const Shape& skip) {
            if (!eighth_) conv(at + ".reduce", width, window(1));
            kept.push_back(b_.shape());
            b_.upsample(at, 2);
            b_.concat(at + ".concat", skip[0]);
        };
        up("up1", 512, skips[1]);
        stage("neck1", 512, 3, false);
        up("up2", 256, skips[0]);
        // The eighth generation goes down again from the joined map, not from a reduced one.
        stage("neck2", 256, 3, false);
        std::vector<Shape> levels = {b_.shape()};
        const auto down = [&](const std::string& at, std::int64_t width, const Shape& other, std::int64_t out) {
            conv(at, width, window(3, 2, 1));
            b_.concat(at + ".concat", other[0]);
            stage(at + ".stage", out, 3, false);
            levels.push_back(b_.shape());
        };
        down("down4", 256, kept[1], 512);
        down("down5", 512, kept[0], 1024);
        return levels;
    }

    double detect(const std::vector<Shape>& levels) {
        double predictions = 0.0;
        const std::int64_t box = std::max<std::int64_t>({16, levels[0][0] / 4, 64});
        const std::int64_t name = std::max(levels[0][0], std::min<std::int64_t>(classes_, 100));
        for (std::size_t i = 0; i < levels.size() && !b_.failed(); ++i) {
            const std::string at = fmt::format("detect{}", i);
            const double cells = static_cast<double>(levels[i][1]) * static_cast<double>(levels[i][2]);
            b_.continue_from(levels[i]);
            if (!eighth_) {
                b_.conv(at, 3 * (classes_ + 5), window(1), true);
                predictions += 3.0 * cells;
                continue;
            }
            branch(at + ".box", box, 64);
            b_.continue_from(levels[i]);
            branch(at + ".class", name, classes_);
            predictions += cells;
        }
        return predictions;
    }

    void branch(const std::string& at, std::int64_t width, std::int64_t out) {
        exact_conv(at + ".1", width, window(3, 1, 1));
        exact_conv(at + ".2", width, window(3, 1, 1));
        b_.conv(at + ".3", out, window(1), true);
    }

    ModelBuilder& b_;
    bool eighth_;
    Scale scale_;
    std::int64_t classes_;
    int block_ = 0;
};

// YOLOv3's neck: five convolutions and a prediction on each of three scales, coarse to fine.
double add_third(ModelBuilder& b, std::int64_t classes) {
    const auto conv = [&](const std::string& at, std::int64_t out, std::int64_t kernel) {
        add_conv_norm(b, at, out, window(kernel, 1, kernel / 2), "leaky_relu");
    };
    const std::vector<Shape> stages = add_darknet(b);
    double predictions = 0.0;
    for (int scale = 0; scale < 3 && !b.failed(); ++scale) {
        const std::string at = fmt::format("scale{}", scale);
        const std::int64_t width = 512 >> scale;
        if (scale > 0) {
            conv(at + ".reduce", width, 1);
            b.upsample(at + ".up", 2);
            b.concat(at + ".concat", stages[static_cast<std::size_t>(4 - scale)][0]);
        }
        for (int i = 0; i < 5; ++i)
            conv(fmt::format("{}.{}", at, i), i % 2 == 0 ? width : 2 * width, i % 2 == 0 ? 1 : 3);
        if (b.failed()) break;
        const Shape trunk = b.shape();
        conv(at + ".last", 2 * width, 3);
        b.conv(at + ".detect", 3 * (classes + 5), window(1), true);
        predictions += 3.0 * static_cast<double>(trunk[1]) * static_cast<double>(trunk[2]);
        b.continue_from(trunk);
    }
    return predictions;
}

}  // namespace

Result<ModelSpec> build_darknet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    add_darknet(b);
    return finish_classifier(b, name, "darknet", classes);
}

Result<ModelSpec> build_yolo(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    if (image_size % 32 != 0)
        return invalid_argument(
            fmt::format("an image of {} pixels does not halve five times; choose a multiple of 32", image_size));
    ModelBuilder b({3, image_size, image_size});
    const double predictions = name == "yolov3" ? add_third(b, classes) : Yolo(b, name, classes).add();
    if (b.failed()) return invalid_argument(b.fault());
    b.continue_from({static_cast<std::int64_t>(predictions), classes + (name.starts_with("yolov8") ? 64 : 5)});
    b.loss("loss");
    return b.finish(name, "yolo");
}

}  // namespace dlcast
