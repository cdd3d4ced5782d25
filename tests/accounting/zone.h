// SPDX-License-Identifier: GPL-2.0-or-later
// A time zone for a test, or another variable of the environment, put back at its end.
#pragma once

#include <stdlib.h>
#include <time.h>

#include <optional>
#include <string>

class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = getenv(name)) before_ = before;
        setenv(name, value.c_str(), 1);
        tzset();
    }
    ~Variable() {
        before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_);
        tzset();
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

struct Zone : Variable {
    explicit Zone(const char* zone) : Variable("TZ", zone) {}
};

// Central European time with its DST rules, without a zone file: the last Sundays of March and October.
constexpr const char* berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
