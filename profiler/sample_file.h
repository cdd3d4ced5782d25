// SPDX-License-Identifier: GPL-2.0-or-later
// A file of timing samples that grows line by line, and goes on where an earlier run stopped.
#pragma once

#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "predictor/samples/timing_sample.h"

namespace dlcast {

class SampleFile {
public:
    /// Reads what is there. The beginning of a sample without a line end behind it (a run that was killed) is taken
    /// away, and `note` says so. Errors, with the file left as it is: another line is broken, the file cannot be
    /// written.
    static Result<SampleFile> open(const std::string& path, std::string& note);

    /// The first sample of the same point, or nullptr. Takes the same time in a long file as in a short one.
    const TimingSample* find(const TimingSample& sample) const;
    /// Writes the line through to the file at once.
    Status append(const TimingSample& sample);
    const std::vector<TimingSample>& samples() const { return samples_; }

private:
    void keep(TimingSample&& sample);

    std::string path_;
    std::ofstream file_;
    std::vector<TimingSample> samples_;
    std::unordered_map<std::size_t, std::vector<std::size_t>>
        places_;  // in `samples_`, by the hash of what they are of
};

}  // namespace dlcast
