// SPDX-License-Identifier: GPL-2.0-or-later
// A site whose measured times follow from the shipped forecast, for tests of `dlcast refine`.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/installation.h"
#include "cli/refine.h"
#include "tests/scratch_folder.h"

namespace dlcast::test {

extern const std::string module_file, shipped_weights;
inline constexpr const char* gpu = "L40S";  // trained nothing

/// Prints why the test is skipped where there is no network.
bool has_torch();
TimingSample sample_of(SamplePoint point, double median_s);

/// A site that measured products; `times` makes of each forecast the measured time.
class Site {
public:
    Site();

    /// Measured from here on, beside the products.
    void add(const std::vector<Operator>& more) { operators_.insert(operators_.end(), more.begin(), more.end()); }
    void measure(const std::function<double(std::size_t, double)>& times);
    std::vector<double> forecasts(const std::string& weights) const;
    /// `said` then holds what the refinement told, a line each.
    Result<Refined> refine();
    /// Steps of whole models, in seconds, become the samples.
    void measure_steps(const std::vector<std::pair<MeasuredPass, double>>& steps);
    /// Of the forecast by `weights`, with the site's factors.
    StepEstimate step_forecast(const std::string& weights, const std::string& model, int batch) const;
    const DeviceCatalog& catalog() const { return catalog_; }
    const Device& device() const { return device_; }

    ScratchFolder folder;
    RefineOptions options;
    std::string said;

private:
    DeviceCatalog catalog_;
    Device device_;
    std::vector<Operator> operators_;
};

/// Fails the test where there is none.
const RefinedKind& kind_of(const Refined& refined, const std::string& kind);

}  // namespace dlcast::test
