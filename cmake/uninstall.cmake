# SPDX-License-Identifier: GPL-2.0-or-later
# Takes away what `cmake --install` put there last, by its manifest. dlcast.toml stays: it is the administrator's.
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "${MANIFEST} is missing: nothing was installed from this build folder")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file ${files})
  if(file MATCHES "/dlcast\\.toml$")
    message(STATUS "Kept: $ENV{DESTDIR}${file}")
  elseif(EXISTS "$ENV{DESTDIR}${file}" OR IS_SYMLINK "$ENV{DESTDIR}${file}")
    file(REMOVE "$ENV{DESTDIR}${file}")
    message(STATUS "Removed: $ENV{DESTDIR}${file}")
  endif()
endforeach()
