// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/published_errors.h"

#include <fmt/format.h>

#include <array>

namespace dlcast {
namespace {

struct Published {
    std::string_view section, text;  // the section's name without its number
};

// Justus et al.: D. Justus, J. Brennan, S. Bonner, A. S. McGough, Predicting the computational cost of deep learning
// models, IEEE Big Data 2018 (their notebooks). NeuSight: S. Lee, A. Phanishayee, D. Mahajan, Forecasting GPU
// performance for deep learning training and inference, ASPLOS 2025. Habitat: G. Yu et al., USENIX ATC 2021. Li et al.:
// Y. Li, Y. Sun, A. Jog, Path forward beyond simulators, MICRO 2023. PreNeT: its repository's charts.
constexpr std::array<Published, 13> published{{
    {"ops-test", "Justus et al., conv2d of their own test rows: MAPE 10.9 %, RMSE 3.66 ms"},
    {"ops-test", "gradient-boosted trees on log(time / roofline): conv2d 8.5 %, linear 3.8 %"},
    {"ops-test",
     "such trees on new shapes of PyTorch: bmm 6.0 %, linear 8.7 %, conv2d 15 %, elementwise 1.3 %, softmax 2.3 %, "
     "layer "
     "norm 2.1 %"},
    {"ops-test", "such trees on GPUs that did not train: A100-80GB linear 11.6 %, bmm 21 %; L4 linear 38 %, bmm 54 %"},
    {"models",
     "NeuSight, the 47 rows of one NVIDIA GPU that all published: total 10.3 %, forward 12.6 %, backward 13.2 %"},
    {"left-out-gpu", "Justus et al., conv2d with a GPU left out (V100): 39.6 %"},
    {"left-out-gpu", "gradient-boosted trees, conv2d: P100 18 %, GTX1080Ti 13 %, K80 15 %, K40 43 %, M60 84 %"},
    {"steps-super-family", "arithmetic over peak with one efficiency a precision: MAPE 43 %, median 32 %, p90 89 %"},
    {"collectives", "size over the link's catalog bandwidth stands as \"roofline\""},
    {"collectives-fit",
     "latency and bandwidth fitted to two measured sizes: median 5.6, 22.0, 5.2 % (to 64 KiB, to 16 MiB, larger)"},
    {"sampling-400", "tree trained on the samples 10.5 %; linear shift of the source model 6.2 %"},
    {"sampling-800", "tree trained on the samples 5.3 %; linear shift of the source model 4.3 %"},
    {"models", "PreNeT, epochs of VGG-16: 22.5 %"},
}};

}  // namespace

std::string predictor_name(std::string_view column) {
    if (column == "neusight") return "NeuSight";
    if (column == "habitat") return "Habitat";
    if (column == "micro") return "Li et al.";
    if (column == "prenet") return "PreNeT";
    if (column == "justus_as_run_by_prenet") return "Justus et al. as PreNeT ran it";
    return std::string(column);
}

std::string published_lines(std::string_view section) {
    const std::size_t number = section.find_first_not_of("0123456789-");
    const std::string_view name = number == std::string_view::npos ? section : section.substr(number);
    std::string out;
    for (const Published& p : published)
        if (p.section == name) out += fmt::format("- {}\n", p.text);
    return out;
}

}  // namespace dlcast
