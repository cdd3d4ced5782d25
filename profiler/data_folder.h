// SPDX-License-Identifier: GPL-2.0-or-later
// Where gpus.toml lies beside this program: in the build tree or where it was installed, whatever the current folder
// is.
#pragma once

#include <string>

namespace dlcast {

/// Told by the place of the running program.
std::string data_folder();

}  // namespace dlcast
