# SPDX-License-Identifier: GPL-2.0-or-later
# `cpack` in a build with the prefix /usr: five Debian packages (contrib/make-packages does both). Slurm takes a job_submit
# plugin of its own release alone, so that release stands in the names of the two packages with plugins.
if(NOT TARGET job_submit_dlcast)
  return()
endif()

file(STRINGS ${SLURM_INCLUDE_DIR}/slurm/slurm_version.h line REGEX "define SLURM_VERSION_NUMBER")
string(REGEX MATCH "0x([0-9a-fA-F]+)" _ "${line}")
math(EXPR major "(0x${CMAKE_MATCH_1} >> 16) & 0xff")
math(EXPR minor "(0x${CMAKE_MATCH_1} >> 8) & 0xff")
math(EXPR micro "0x${CMAKE_MATCH_1} & 0xff")
if(minor LESS 10)
  set(minor 0${minor})
endif()
set(slurm ${major}.${minor}.${micro})
math(EXPR after "${micro} + 1")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dlcast)
set(CPACK_PACKAGE_CONTACT "root@localhost" CACHE STRING "Who made these packages")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_COMPONENTS_ALL common controller client tools profiler)

set(CPACK_DEBIAN_COMMON_PACKAGE_NAME dlcast-common)
set(CPACK_COMPONENT_COMMON_DESCRIPTION "dlcast: configuration, GPU catalog, weights and the network's module")
set(CPACK_DEBIAN_COMMON_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/conffiles)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/conffiles "${CMAKE_INSTALL_FULL_SYSCONFDIR}/dlcast/dlcast.toml\n")

set(CPACK_DEBIAN_CONTROLLER_PACKAGE_NAME dlcast-controller-slurm${slurm})
set(CPACK_COMPONENT_CONTROLLER_DESCRIPTION "dlcast: the plugin for slurmctld ${slurm}")
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_DEPENDS
  "dlcast-common (= ${PROJECT_VERSION}), slurmctld (>= ${slurm}), slurmctld (<< ${major}.${minor}.${after})")
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_PROVIDES dlcast-controller)
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_CONFLICTS dlcast-controller)
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/postinst ${CMAKE_CURRENT_SOURCE_DIR}/cmake/postrm)
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME dlcast-client-slurm${slurm})
set(CPACK_COMPONENT_CLIENT_DESCRIPTION "dlcast: the option --dl-model for login and compute nodes of Slurm ${major}.${minor}")
set(CPACK_DEBIAN_CLIENT_PACKAGE_PROVIDES dlcast-client)
set(CPACK_DEBIAN_CLIENT_PACKAGE_CONFLICTS dlcast-client)

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME dlcast-tools)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "dlcast: forecasts of deep-learning jobs offline, checks, training of weights")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "dlcast-common (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_PROFILER_PACKAGE_NAME dlcast-profiler)
set(CPACK_COMPONENT_PROFILER_DESCRIPTION "dlcast: measures layers and collectives of a machine into timing samples")
set(CPACK_DEBIAN_PROFILER_PACKAGE_DEPENDS "dlcast-common (= ${PROJECT_VERSION})")
include(CPack)
