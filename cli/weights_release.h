// SPDX-License-Identifier: GPL-2.0-or-later
// A weights directory that is published in one step: NAME is a link to one of its versions, so that a running
// controller sees the old one or the new one, whole.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/say.h"
#include "predictor/base/result.h"

namespace dlcast {

/// The place of NAME, held against other publishers of its folder until destroyed: what is read of NAME meanwhile is
/// what the next version takes the place of.
class WeightsPlace {
public:
    /// Makes the folder. Errors: NAME is there and is no link, with the remedy; an unwritable place; another publisher
    /// at work for ten seconds, whom `say` names after one.
    static Result<WeightsPlace> hold(
        const std::string& name, const Say& say = [](const std::string&) {});
    WeightsPlace(WeightsPlace&&) noexcept;
    ~WeightsPlace();

    /// Makes NAME.v<N+1>, lets `fill` write into it, and turns the link NAME to it; the version that NAME led to stays,
    /// as NAME.last, and older ones are removed. Nothing is published where `fill` fails. Errors: an unwritable place;
    /// those of `fill`.
    Status publish(const std::function<Status(const std::string& dir)>& fill) const;

private:
    struct Held;
    explicit WeightsPlace(std::unique_ptr<Held> held);
    std::unique_ptr<Held> held_;
};

/// Turns NAME to NAME.last and NAME.last to where NAME led; the version now in force. Errors: there is no last one;
/// another publisher, as above.
Result<std::string> roll_back_weights(
    const std::string& name, const Say& say = [](const std::string&) {});

}  // namespace dlcast
