// SPDX-License-Identifier: GPL-2.0-or-later
// Charts as SVG: curves over a count, and bars by name.
#pragma once

#include <string>
#include <vector>

namespace dlcast {

struct CurvePoint {
    double count = 1.0, value = 0.0;  // both above 0
    bool hollow = false;              // drawn as a ring: it is there, but not to be taken
    bool marked = false;              // a larger ring around it
};

struct Curve {
    std::string name;
    std::vector<CurvePoint> points;  // counts ascending
};

struct CurvePanel {
    std::string title;  // with the unit
    bool logarithmic = false;
    std::vector<Curve> curves;  // of the same names in every panel
};

/// Panels side by side over one logarithmic axis of counts, with one legend; `notes` stand below.
std::string curve_chart(const std::string& title, const std::string& count_title, const std::vector<CurvePanel>& panels,
                        const std::vector<std::string>& notes);

struct Bar {
    double value = 0.0;
    std::string label;  // behind the bar: the figure with its unit
    bool pale = false;  // it is there, but not to be taken
};

struct BarPanel {
    std::string title;
    std::vector<Bar> bars;  // one for each name
};

/// One row for each name, one column of bars for each panel.
std::string bar_chart(const std::string& title, const std::vector<std::string>& names,
                      const std::vector<BarPanel>& panels, const std::vector<std::string>& notes);

}  // namespace dlcast
