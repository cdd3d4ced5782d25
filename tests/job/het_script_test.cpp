// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/het_script.h"

#include <catch2/catch.hpp>

using namespace dlcast;

TEST_CASE("a model of a later component is seen in the script's head alone", "[het_script]") {
    const auto [script, gives] = GENERATE(table<const char*, bool>({
        {"#!/bin/sh\n#SBATCH --dl-model=a.json\n#SBATCH hetjob\n#SBATCH --dl-model=b.json\nsrun x\n", true},
        {"#!/bin/sh\n#SBATCH --dl-model a\n\n# a remark\n#SBATCH hetjob\n#SBATCH -n1 --dl-model b\n", true},
        {"#!/bin/sh\n#SBATCH --dl-model=a\n#SBATCH packjob\n#SBATCH --dl-model=b\n", true},
        {"#!/bin/sh\n#SBATCH --dl-model=a\n#SBATCH --dl-model=b\n", false},
        {"#!/bin/sh\n#SBATCH --dl-model=a\n#SBATCH hetjob\n#SBATCH -n1\nsbatch --dl-model=b c.sh\n", false},
        {"#!/bin/sh\nsrun x\n#SBATCH hetjob\n#SBATCH --dl-model=b\n", false},
        {"", false},
    }));
    CHECK(gives_model_to_later_component(script) == gives);
}
