// SPDX-License-Identifier: GPL-2.0-or-later
// Low-rank adapters (Hu et al., arXiv:2106.09685) beside linear layers, as PEFT places them.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/layer.h"

namespace dlcast {

/// `text`: "r=16", the projections of attention; "r=16,targets=q_proj+v_proj", the linear layers of those names, our
/// own or those of transformers; "r=16,targets=all-linear", all but the head. Freezes all other weights. A matrix of in
/// x out gets r (in + out) parameters. Errors have no place in front.
Status apply_lora(ModelSpec& model, const std::string& text, std::vector<std::string>& assumed);

}  // namespace dlcast
