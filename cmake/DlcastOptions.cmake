# SPDX-License-Identifier: GPL-2.0-or-later
# Flags every target shares.
set(DLCAST_SANITIZE OFF CACHE STRING "ON: AddressSanitizer and UndefinedBehaviorSanitizer; thread: ThreadSanitizer")
option(DLCAST_FUZZ "Build the fuzzers alone (needs clang; preset fuzz)" OFF)
option(DLCAST_ONLY_PROFILER "Build dlcast-profile (and dlcast-sweep where MPI is found) alone" OFF)
option(DLCAST_WERROR "Treat warnings as errors" OFF)

# Paths below the source folder are hashed as relative ones, so that every checkout shares the cache.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(ccache ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
endif()

add_library(dlcast_flags INTERFACE)
target_compile_options(dlcast_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${DLCAST_WERROR}>:-Werror>)
# Plugins are loaded into slurmctld and sbatch: only their entry points may be seen.
target_compile_options(dlcast_flags INTERFACE -fvisibility=hidden -ffunction-sections -fdata-sections)
target_link_options(dlcast_flags INTERFACE -Wl,--gc-sections)
target_include_directories(dlcast_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(DLCAST_SANITIZE)
  set(sanitizers address,undefined)
  if(DLCAST_SANITIZE STREQUAL "thread")
    set(sanitizers thread)
  endif()
  target_compile_options(dlcast_flags INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(dlcast_flags INTERFACE -fsanitize=${sanitizers})
endif()
