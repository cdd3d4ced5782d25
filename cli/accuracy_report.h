// SPDX-License-Identifier: GPL-2.0-or-later
// A page of figures (docs/accuracy.md) from kept results of `dlcast evaluate ... --json`.
#pragma once

#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/base/value.h"

namespace dlcast {

/// One evaluation that was run and kept.
struct KeptResult {
    std::string section;  // file name without its ending: the order on the page, and the key of published figures
    std::string title, text, command, date, picture;
    Value result;  // what `--json` printed
};

/// Reads every FILE.json of `folder` by name: {"title", "text", "command", "date", "picture", "result"}; title, command
/// and result must be there. Errors: an unreadable folder or file, no file, a key missing.
Result<std::vector<KeptResult>> read_kept_results(const std::string& folder);

/// The page in Markdown: a section each, with its figures as tables, what others published on the same rows beside
/// them, the command and the date.
std::string accuracy_page(const std::vector<KeptResult>& results);

}  // namespace dlcast
