// SPDX-License-Identifier: GPL-2.0-or-later
// What the verbs of `dlcast` share. A verb is one file with one function that adds it to the program; main.cpp calls
// them in order. Its callback runs the verb and sets `exit_code`.
#pragma once

#include <CLI/CLI.hpp>

#include "predictor/base/result.h"

namespace dlcast {

// Exit codes that scripts rely on.
constexpr int exit_done = 0;
constexpr int exit_error = 1;  // refused input, failure
constexpr int exit_usage = 2;
constexpr int exit_does_not_fit = 3;  // the forecast is printed, but memory or limits do not hold it

/// Prints `dlcast: error: ...` on stderr and gives the exit code of the fault.
int report(const Error& error);

void add_calibrate(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_evaluate(CLI::App& app, int& exit_code);
void add_forecast(CLI::App& app, int& exit_code);
void add_refine(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_simulate(CLI::App& app, int& exit_code);
void add_status(CLI::App& app, int& exit_code);
void add_sync(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_scale(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);

}  // namespace dlcast
