// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"

namespace dlcast {

int report(const Error& error) {
    fmt::print(stderr, "dlcast: error: {}\n", error.message);
    return error.fault == Fault::does_not_fit ? exit_does_not_fit : exit_error;
}

}  // namespace dlcast
