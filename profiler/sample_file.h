// SPDX-License-Identifier: GPL-2.0-or-later
// A file of timing samples that grows line by line, and goes on where an earlier run stopped.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "predictor/samples/timing_sample.h"

namespace dlcast {

class SampleFile {
public:
    /// Reads what is there. A last line without its end (a run that was killed) is taken away, and `note` says so.
    /// Errors: another line is broken, the file cannot be written.
    static Result<SampleFile> open(const std::string& path, std::string& note);

    /// An earlier sample of the same point, or nullptr.
    const TimingSample* find(const TimingSample& sample) const;
    /// Writes the line through to the file at once.
    Status append(const TimingSample& sample);
    const std::vector<TimingSample>& samples() const { return samples_; }

private:
    std::string path_;
    std::ofstream file_;
    std::vector<TimingSample> samples_;
};

}  // namespace dlcast
