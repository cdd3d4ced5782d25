// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/collective_runner.h"

namespace dlcast {

Result<std::unique_ptr<CollectiveRunner>> make_nccl_collectives(Ranks&, std::uint64_t) {
    return unavailable("this build has no NCCL; install it and build again");
}

}  // namespace dlcast
