// SPDX-License-Identifier: GPL-2.0-or-later
// Bandwidth of a host's memory.
#pragma once

namespace dlcast {

/// Bytes per second of a[i] = b[i] + s c[i] over arrays four times the cache, on so many threads: the best of five
/// runs, or of those that begin within `most_s`; where pages come so slowly that the arrays alone would take half of
/// that, they are shorter, down to the cache. Each element counts two reads and a write. Source: McCalpin, STREAM
/// (1995).
double triad_Bps(int threads, double cache_bytes, double most_s);

}  // namespace dlcast
