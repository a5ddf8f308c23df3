# Language level, warnings, optimisation and sanitizers: the same for every room.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Wheels are portable: tuned for no particular machine, never -march=native.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG -mtune=generic")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer")

find_program(PENSTOCK_CCACHE ccache)
if(PENSTOCK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PENSTOCK_CCACHE}")
endif()

if(PENSTOCK_SANITIZE)
  add_compile_options(-fsanitize=${PENSTOCK_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PENSTOCK_SANITIZE})
endif()

# Every room links this, so that warnings reach our sources and not those of third parties.
add_library(penstock_options INTERFACE)
target_compile_options(penstock_options INTERFACE
  -Wall -Wextra -Wconversion $<$<BOOL:${PENSTOCK_WERROR}>:-Werror>)
# GCC 12 takes the alternatives that a std::variant does not hold for values that may be
# uninitialised, at every optimisation level. Definite cases (-Wuninitialized) are still found.
# Its -Wrestrict sees impossible overlaps in "literal" + std::string (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(penstock_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()
# No fused multiply-add: generated rows and float aggregates are the same on every machine.
target_compile_options(penstock_options INTERFACE -ffp-contract=off)
target_include_directories(penstock_options INTERFACE "${PROJECT_SOURCE_DIR}/cpp")
