// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/accuracy_html.h"

#include "cli/report_assets.h"
#include "predictor/base/json.h"

namespace dlcast {
namespace {

void put(std::string& page, std::string_view mark, std::string_view text) {
    page.replace(page.find(mark), mark.size(), text);
}

// Names are written by users: inside a script element "</script>" and "<!--" must not appear.
std::string without_tags(const std::string& json) {
    std::string out;
    for (const char c : json) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

}  // namespace

Result<std::string> accuracy_html(const Value& figures) {
    if (*chart_library == '\0')
        return unavailable(
            "this dlcast was built without a chart library for --html; install libjs-chart.js and build it again");
    std::string page = report_page;
    // The library first: the figures may hold whatever users call their models.
    put(page, "@CHART@", chart_library);
    put(page, "@DATA@", without_tags(write_json(figures)));
    return page;
}

}  // namespace dlcast
