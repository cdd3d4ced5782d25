// SPDX-License-Identifier: GPL-2.0-or-later
// A training, as other tools write it, of some model.
#pragma once

#include <string>
#include <vector>

#include "model_test_support.h"

inline dlcast::Training training_of(const std::string& json) {
    return good_workload(R"({"model": "resnet18", "training": )" + json + "}").training;
}

inline std::vector<std::string> assumed_of(const std::string& training) {
    return good_workload(R"({"model": "resnet18", "training": )" + training + "}").assumed;
}

inline std::string fault_of(const std::string& training) {
    return error_of(R"({"model": "resnet18", "training": )" + training + "}");
}

inline bool assumes(const std::string& training, const std::string& part) {
    for (const std::string& sentence : assumed_of(training))
        if (sentence.find(part) != std::string::npos) return true;
    return false;
}
