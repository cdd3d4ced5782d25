// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "predictor/base/value.h"

namespace dlcast {

/// A member whose key an earlier member has; nullptr where every key stands once. Linear in the number of keys, and
/// never worse than sorting them, whatever keys somebody chose.
const Value::Member* duplicate_key(const Value::Object& object);

}  // namespace dlcast
