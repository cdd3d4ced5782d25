// SPDX-License-Identifier: GPL-2.0-or-later
// `--svg FILE` of scale and compare.
#pragma once

#include <string>

#include "predictor/base/result.h"

namespace dlcast {

/// Writes the drawing and says so on stderr. Error: `path` cannot be written.
Status write_picture(const std::string& path, const std::string& svg);

}  // namespace dlcast
