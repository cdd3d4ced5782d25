// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "predictor/base/text.h"

namespace dlcast {

int report(const Error& error) {
    // In one line, whatever a path in it may hold.
    fmt::print(stderr, "dlcast: error: {}\n", one_line(error.message, std::string::npos));
    return error.fault == Fault::does_not_fit ? exit_does_not_fit : exit_error;
}

}  // namespace dlcast
