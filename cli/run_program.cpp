// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "predictor/base/text.h"

extern char** environ;

namespace dlcast {
namespace {

constexpr std::size_t most_bytes = 256u << 20;
constexpr std::size_t most_talk_bytes = 4096, most_told_bytes = 300;
using Clock = std::chrono::steady_clock;

// Reads until the program closes its output. Empty text: all went well; else what did not.
std::string read_all(int fd, Clock::time_point deadline, std::string& out) {
    char buffer[1 << 16];
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd ready{fd, POLLIN, 0};
        const int events = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left));
        if (events == 0) return "did not end in time";
        if (events < 0 && errno == EINTR) continue;
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::strerror(errno);
        if (got == 0) return "";
        out.append(buffer, static_cast<std::size_t>(got));
        if (out.size() > most_bytes) return "printed too much";
    }
}

// The beginning of what it said.
std::string read_talk(int fd) {
    std::string out(most_talk_bytes, '\0');
    const ssize_t got = ::pread(fd, out.data(), out.size(), 0);
    out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(trim(out));
}

std::string lines_in_one(const std::string& text) {
    std::vector<std::string> lines;
    for (const std::string& line : split(text, '\n'))
        if (!trim(line).empty()) lines.emplace_back(trim(line));
    return one_line(fmt::format("{}", fmt::join(lines, "; ")), most_told_bytes);
}

}  // namespace

Result<StartedProgram> StartedProgram::start(const std::vector<std::string>& arguments) {
    const std::string& name = arguments.front();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return unavailable(fmt::format("cannot run {}: {}", name, std::strerror(errno)));
    const int talk = ::memfd_create("stderr", MFD_CLOEXEC);  // a pipe would have to be emptied while it runs

    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (talk >= 0) ::posix_spawn_file_actions_adddup2(&actions, talk, STDERR_FILENO);
    pid_t child = 0;
    const int spawned = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (spawned != 0) {
        ::close(ends[0]);
        if (talk >= 0) ::close(talk);
        return unavailable(fmt::format("cannot run {}: {}", name, std::strerror(spawned)));
    }
    return StartedProgram(ends[0], talk, child);
}

StartedProgram::StartedProgram(StartedProgram&& other) noexcept
    : output_(std::exchange(other.output_, -1)),
      talk_(std::exchange(other.talk_, -1)),
      pid_(std::exchange(other.pid_, -1)) {}

StartedProgram::~StartedProgram() {
    kill();
    if (output_ >= 0) ::close(output_);
    if (talk_ >= 0) ::close(talk_);
}

void StartedProgram::kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    wait();
}

std::string StartedProgram::wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    const std::string talk = read_talk(talk_);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (!talk.empty()) fmt::print(stderr, "{}\n", talk);
        return "";
    }
    const std::string end = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                              : fmt::format("signal {}", WTERMSIG(status));
    return fmt::format("failed ({}){}", end, talk.empty() ? "" : ": " + lines_in_one(talk));
}

Result<std::string> run_program(const std::vector<std::string>& arguments, std::chrono::milliseconds patience) {
    auto program = StartedProgram::start(arguments);
    if (!program) return program.error();
    std::string out;
    std::string fault = read_all(program->output(), Clock::now() + patience, out);
    if (!fault.empty())
        program->kill();
    else
        fault = program->wait();
    if (!fault.empty()) return unavailable(fmt::format("`{}` {}", fmt::join(arguments, " "), fault));
    return out;
}

}  // namespace dlcast
