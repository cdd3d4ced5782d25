// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong with the command line of dlcast-profile or dlcast-sweep, in words.
#pragma once

#include <string>
#include <vector>

namespace dlcast {

/// "" where no word is an option; else that `program` has no such option, and which of `options` is near.
std::string unknown_option(const std::string& program, const std::vector<std::string>& words,
                           const std::vector<std::string>& options);

/// CLI11's own words, but of a misspelt option, which it calls unexpected. A template, for programs alone see CLI11.
template <typename App, typename Fault>
std::string wrong_usage(const App& program, const Fault& fault) {
    std::vector<std::string> options;
    for (const auto* option : program.get_options())
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    const std::string unknown = unknown_option(program.get_name(), program.remaining(), options);
    return unknown.empty() ? fault.what() : unknown;
}

}  // namespace dlcast
