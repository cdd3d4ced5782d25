# SPDX-License-Identifier: GPL-2.0-or-later
# Everything the build looks for, in one place. What is optional decides which targets exist, never what code means.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)

find_package(Torch QUIET)
pkg_check_modules(SLURM QUIET IMPORTED_TARGET slurm)
find_path(SLURM_INCLUDE_DIR slurm/spank.h HINTS ${SLURM_INCLUDE_DIRS})
find_package(MPI QUIET COMPONENTS CXX)
find_package(CUDAToolkit QUIET)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
find_package(Catch2 2 QUIET)
find_package(benchmark QUIET)
