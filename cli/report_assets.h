// SPDX-License-Identifier: GPL-2.0-or-later
// What the page of `dlcast report --html` is made of, put into the program when it is built.
#pragma once

namespace dlcast {

/// report_page.html, with marks where the figures and the library belong.
extern const char* const report_page;
/// The text of Chart.js; empty where the build found none.
extern const char* const chart_library;

}  // namespace dlcast
