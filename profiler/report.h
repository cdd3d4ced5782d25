// SPDX-License-Identifier: GPL-2.0-or-later
// What dlcast-profile says: progress on stderr, the result on stdout.
#pragma once

#include "profiler/layer_sums.h"

namespace dlcast {

/// On a terminal one line that changes, elsewhere a line every ten seconds.
Progress progress_on_stderr(const std::string& program);
/// Ends the line that changes.
void end_progress();

struct ModelSums {
    std::string model;
    std::vector<LayerSum> sums;
};

/// A line for each reason, with the first point that it holds of and how many more there are.
std::string refusals_text(const std::vector<Refusal>& refused);
std::string profile_text(const ProfileResult& result, const std::vector<ModelSums>& models, const std::string& output);
std::string profile_json(const ProfileResult& result, const std::vector<ModelSums>& models, const std::string& output);

}  // namespace dlcast
