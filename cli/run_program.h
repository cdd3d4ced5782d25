// SPDX-License-Identifier: GPL-2.0-or-later
// Runs another program and reads what it prints. No shell: arguments go as they are.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "predictor/base/result.h"

namespace dlcast {

/// A program that runs, for those who read its output as it comes. One that is not waited for is killed.
class StartedProgram {
public:
    /// Errors (unavailable): not found, no permission.
    static Result<StartedProgram> start(const std::vector<std::string>& arguments);
    ~StartedProgram();
    StartedProgram(StartedProgram&& other) noexcept;
    StartedProgram(const StartedProgram&) = delete;
    StartedProgram& operator=(const StartedProgram&) = delete;

    int output() const { return output_; }  // the read end of its standard output
    /// Waits for its end. Empty: it ended with 0, and what it said on stderr is said on ours; else what happened, with
    /// what it said.
    std::string wait();
    /// Kills it, and waits.
    void kill();

private:
    StartedProgram(int output, int talk, pid_t pid) : output_(output), talk_(talk), pid_(pid) {}
    int output_;
    int talk_;   // a file in memory: its standard error
    pid_t pid_;  // -1: its end was seen
};

/// Standard output of `arguments[0]`, found in PATH, once it has ended with 0. Errors (unavailable): not found, another
/// exit code (with what it said on stderr), no end within `patience` (it is then killed), more than 256 MiB of output.
Result<std::string> run_program(const std::vector<std::string>& arguments, std::chrono::milliseconds patience);

}  // namespace dlcast
