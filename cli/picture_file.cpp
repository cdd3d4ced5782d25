// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/picture_file.h"

#include <fmt/format.h>

#include <cstdio>

#include "predictor/base/text.h"

namespace dlcast {

Status write_picture(const std::string& path, const std::string& svg) {
    if (auto status = write_file_atomically(path, svg); !status) return status;
    fmt::print(stderr, "dlcast: wrote {}\n", path);
    return ok();
}

}  // namespace dlcast
