// SPDX-License-Identifier: GPL-2.0-or-later
// Parameters that one rank holds of a model divided over tensor, pipeline and expert ranks.
#pragma once

#include "predictor/model/layer.h"
#include "predictor/step/layout.h"

namespace dlcast {

struct StageParameters {
    double all = 0.0, trained = 0.0;
    double largest_block = 0.0;     // of all: the most that one repeated block has; all of them where nothing repeats
    double outside_blocks = 0.0;    // of all: embeddings, heads
    double trained_products = 0.0;  // of trained: weights of products and convolutions, which autocast casts
};

/// Of the fullest rank, before sharding over data ranks. A pipeline's stages have equal numbers of repeated blocks,
/// rounded up; the first has the embeddings too, the last the head: the larger of the two is added. Expert ranks divide
/// the layers that have experts.
StageParameters stage_parameters(const ModelSpec& model, const Layout& layout);

}  // namespace dlcast
