// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "cli/chart.h"
#include "cli/svg.h"

namespace dlcast {
namespace {

constexpr double row = 26, thickness = 16, margin = 20, top = 86, note_line = 18;
constexpr double panel = 340, longest_bar = 200;
constexpr double glyph = 7.2;  // of a digit or letter at size 12, widest case

}  // namespace

std::string bar_chart(const std::string& title, const std::vector<std::string>& names,
                      const std::vector<BarPanel>& panels, const std::vector<std::string>& notes) {
    std::size_t longest_name = 0;
    for (const std::string& name : names) longest_name = std::max(longest_name, name.size());
    const double names_width = glyph * static_cast<double>(longest_name) + 12;
    const double bottom = top + row * static_cast<double>(names.size());
    Svg svg(margin + names_width + panel * static_cast<double>(panels.size()),
            bottom + note_line * static_cast<double>(notes.size()) + 16);
    svg.text(margin, 30, title, {.size = 15, .bold = true});
    for (std::size_t i = 0; i < names.size(); ++i)
        svg.text(margin + names_width - 12, top + row * static_cast<double>(i) + 12, names[i], {.anchor = Anchor::end});
    for (std::size_t p = 0; p < panels.size(); ++p) {
        const double x = margin + names_width + panel * static_cast<double>(p);
        svg.text(x, top - 20, panels[p].title, {.size = 13, .bold = true});
        svg.line(x, top - 6, x, bottom - 4, "#222");
        double most = 1e-300;
        for (const Bar& bar : panels[p].bars) most = std::max(most, bar.value);
        for (std::size_t i = 0; i < panels[p].bars.size(); ++i) {
            const Bar& bar = panels[p].bars[i];
            const double y = top + row * static_cast<double>(i);
            const double length = std::max(1.0, bar.value / most * longest_bar);
            svg.rectangle(x, y, length, thickness, bar.pale ? "#ccc" : "#0072B2");
            svg.text(x + length + 6, y + 12, bar.label, {.color = bar.pale ? "#777" : "#222"});
        }
    }
    double y = bottom + 14;
    for (const std::string& note : notes) {
        svg.text(margin, y, note, {.size = 11, .color = "#555"});
        y += note_line;
    }
    return svg.finish();
}

}  // namespace dlcast
