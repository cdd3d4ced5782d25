// SPDX-License-Identifier: GPL-2.0-or-later
// Result<T>: a value, or the reason why there is none. No exception crosses a public function of the predictor.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace dlcast {

/// What went wrong, so that a caller can choose an exit code or a Slurm error.
enum class Fault {
    invalid_argument,  // the user's input is wrong
    not_found,         // a name, file or key is not there
    unavailable,       // something optional is missing or broken (LibTorch, weights, a configuration file)
    does_not_fit,      // the forecast stands, but memory or limits do not hold it
};

/// `message` is one line a user can act on: place, fault, remedy.
struct Error {
    Fault fault = Fault::invalid_argument;
    std::string message;
};

template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::move(value)) {}
    Result(Error error) : state_(std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    const T& operator*() const& { return std::get<0>(state_); }
    T& operator*() & { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    const T* operator->() const { return &std::get<0>(state_); }
    T* operator->() { return &std::get<0>(state_); }
    const Error& error() const { return std::get<1>(state_); }

private:
    std::variant<T, Error> state_;
};

/// For functions that return nothing but may fail.
using Status = Result<std::monostate>;

inline Error invalid_argument(std::string message) { return {Fault::invalid_argument, std::move(message)}; }
inline Error not_found(std::string message) { return {Fault::not_found, std::move(message)}; }
inline Error unavailable(std::string message) { return {Fault::unavailable, std::move(message)}; }
inline Status ok() { return std::monostate{}; }

}  // namespace dlcast
