// SPDX-License-Identifier: GPL-2.0-or-later
// The columns of the three networks, in order. Whoever changes one raises feature_schema.
#include "predictor/timing/feature_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "predictor/timing/physics.h"

namespace dlcast {
namespace {

// The order in which generations got better at the same sheet figures; between seen ones a newcomer is an
// interpolation.
double generation(const Device& device) {
    struct Entry {
        std::string_view architecture;
        double value;
    };
    constexpr std::array<Entry, 12> order{{{"kepler", 0.0},
                                           {"maxwell", 1.8},
                                           {"pascal", 2.0},
                                           {"volta", 2.8},
                                           {"turing", 3.0},
                                           {"ampere", 3.5},
                                           {"ada", 4.0},
                                           {"hopper", 4.0},
                                           {"blackwell", 4.0},
                                           {"cdna1", 3.0},
                                           {"cdna2", 3.3},
                                           {"cdna3", 3.6}}};
    for (const Entry& e : order) {
        if (e.architecture == device.architecture) return e.value;
    }
    return 4.0;
}

// How an m x n result falls into tiles, and the tiles over the multiprocessors.
struct Tile {
    int rows, cols;
    const char *waves, *wave_fill, *tile_fill;
};
constexpr std::array<Tile, 6> tiles{{{128, 128, "waves_128x128", "wave_fill_128x128", "tile_fill_128x128"},
                                     {64, 64, "waves_64x64", "wave_fill_64x64", "tile_fill_64x64"},
                                     {128, 64, "waves_128x64", "wave_fill_128x64", "tile_fill_128x64"},
                                     {32, 32, "waves_32x32", "wave_fill_32x32", "tile_fill_32x32"},
                                     {256, 128, "waves_256x128", "wave_fill_256x128", "tile_fill_256x128"},
                                     {32, 128, "waves_32x128", "wave_fill_32x128", "tile_fill_32x128"}}};

}  // namespace

namespace columns {

double multiprocessors(const Device& device) { return std::max(device.sm_count, 1); }

double log_size(double size) { return std::log(std::max(size, 1.0)); }

void put_waves(ColumnWriter& w, std::string_view waves_name, std::string_view fill_name, double waves) {
    waves = std::max(waves, 1e-6);
    w.put(waves_name, std::log(waves), Figure::processors, 0.15);
    w.put(fill_name, waves / std::ceil(waves), Figure::last_round, 0.03);
}

double tile_waves(double batch, double m, double n, double rows, double cols, const Device& device) {
    return std::max(batch, 1.0) * std::ceil(std::max(m, 1.0) / rows) * std::ceil(std::max(n, 1.0) / cols) /
           multiprocessors(device);
}

void put_tiles(ColumnWriter& w, double batch, double m, double n, const Device& device) {
    for (const Tile& tile : tiles) {
        const double down = std::ceil(std::max(m, 1.0) / tile.rows), across = std::ceil(std::max(n, 1.0) / tile.cols);
        put_waves(w, tile.waves, tile.wave_fill, tile_waves(batch, m, n, tile.rows, tile.cols, device));
        w.put(tile.tile_fill, std::max(m, 1.0) * std::max(n, 1.0) / (down * tile.rows * across * tile.cols));
    }
}

void put_gradient_tiles(ColumnWriter& w, double batch, double m, double k, double n, const Device& device) {
    put_waves(w, "waves_data_gradient", "wave_fill_data_gradient", tile_waves(batch, m, k, 128, 64, device));
    put_waves(w, "waves_weight_gradient", "wave_fill_weight_gradient", tile_waves(batch, k, n, 128, 64, device));
}

void put_alignment(ColumnWriter& w, std::string_view by_4, std::string_view by_32, std::int64_t size) {
    w.flag(by_4, size % 4 == 0);
    w.flag(by_32, size % 32 == 0);
}

void put_activation(ColumnWriter& w, Function f) {
    w.flag("relu", f == Function::relu);
    w.flag("tanh", f == Function::tanh);
    w.flag("sigmoid", f == Function::sigmoid || f == Function::silu || f == Function::gelu);
}

void put_device(ColumnWriter& w, const Device& device) {
    w.put("generation", generation(device), Figure::generation, 0.2);
    w.put("amd", device.vendor == "amd" ? 1.0 : 0.0, Figure::vendor, 0.05);
}

double log_intensity(const OperatorQuery& q) {
    Operator plain = *q.op;
    plain.precision = Precision::fp32;
    const Bounds b = bounds(*q.device, plain);
    // In this order std::max turns what is not a number (no size, no rate) into the small one.
    return std::log(std::max(1e-12, b.compute_s) / std::max(1e-12, b.memory_s));
}

}  // namespace columns

void put_features(ColumnWriter& w, Net net, const OperatorQuery& q) {
    if (net == Net::conv) columns::put_conv(w, q);
    if (net == Net::product) columns::put_product(w, q);
    if (net == Net::memory) columns::put_memory(w, q);
}

}  // namespace dlcast
