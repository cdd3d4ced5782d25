// SPDX-License-Identifier: GPL-2.0-or-later
// Bandwidth of a host's memory.
#pragma once

namespace dlcast {

/// Bytes per second of a[i] = b[i] + s c[i] over arrays four times the cache, on so many threads: the best of five
/// runs. Each element counts two reads and a write. Source: McCalpin, STREAM (1995).
double triad_Bps(int threads, double cache_bytes);

}  // namespace dlcast
