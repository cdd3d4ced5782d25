# SPDX-License-Identifier: GPL-2.0-or-later
# dlcast_name_folders(TARGET): the macros DLCAST_SOURCE_DIR and DLCAST_BINARY_DIR, for those of its sources alone that name
# them. All others compile alike in every checkout, so that one compiler cache serves them all.
# A source that begins to name them is found by the next `cmake` run.
function(dlcast_name_folders target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT IS_ABSOLUTE "${source}")
      set(source ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    endif()
    if(NOT EXISTS "${source}")  # objects of another target
      continue()
    endif()
    file(STRINGS ${source} named REGEX "DLCAST_(SOURCE|BINARY)_DIR" LIMIT_COUNT 1)
    if(named)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
        DLCAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" DLCAST_BINARY_DIR="${PROJECT_BINARY_DIR}")
    endif()
  endforeach()
endfunction()
