# SPDX-License-Identifier: GPL-2.0-or-later
# What this build contains, what it does not, and what would change that.
function(dlcast_summary what target remedy)
  if(TARGET ${target})
    message(STATUS "  ${what}: yes")
  else()
    message(STATUS "  ${what}: no (${remedy})")
  endif()
endfunction()

message(STATUS "dlcast ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}")
dlcast_summary("dlcast, the command" dlcast "")
dlcast_summary("dlcast-profile" dlcast-profile "")
dlcast_summary("dlcast-sweep" dlcast-sweep "install libopenmpi-dev")
dlcast_summary("layer-time network (dlcast_torch.so)" dlcast_torch "install libtorch-dev and libopenblas0-serial")
dlcast_summary("Slurm plugins" job_submit_dlcast "install libslurm-dev")
dlcast_summary("tests" dlcast_tests "install catch2 version 2")
dlcast_summary("benchmarks (target bench)" dlcast_bench "install libbenchmark-dev")
