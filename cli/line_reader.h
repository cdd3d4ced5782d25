// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of a file, plain or gzip, or of what a program prints, one at a time: a year of accounting fits in no memory.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "predictor/base/result.h"

namespace dlcast {

class LineReader {
public:
    /// Errors: missing, a folder, unreadable.
    static Result<LineReader> open(const std::string& path);
    /// Runs the program (as run_program does, its stderr is ours) and reads its output. `patience` is the longest
    /// silence, `remedy` ends the message where the program fails.
    static Result<LineReader> run(const std::vector<std::string>& arguments, std::chrono::milliseconds patience,
                                  const std::string& remedy);

    /// Text that was read before; `source` is its place in messages.
    static LineReader of_text(std::string text, const std::string& source);

    /// The next line without its end, valid until the next call; false at the end. Errors: broken compressed data, a
    /// line over 16 MiB; of a program silence, a signal or an exit code other than 0.
    Result<bool> next(std::string_view& line);
    /// `line` comes before all that is read: a header that a program cannot print.
    void put_first(std::string_view line);
    /// Number of the line that `next` gave, from 1.
    std::size_t line() const { return line_; }
    /// Path, or the command in backquotes: the place in messages.
    const std::string& source() const { return source_; }

    struct Input;  // a file, a program or nothing more

private:
    LineReader(std::string source, std::unique_ptr<Input> input);

    std::string source_;
    std::shared_ptr<Input> input_;
    std::string buffer_;
    std::size_t begin_ = 0;
    std::size_t line_ = 0;
    bool ended_ = false;
};

}  // namespace dlcast
