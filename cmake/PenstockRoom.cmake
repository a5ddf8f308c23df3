# penstock_room(NAME <room> [SOURCES a.cpp ...] [DEPENDS <room> ...] [LINK <target> ...]
#               [TESTS a_test.cc ...] [FUZZ a_fuzz.cc ...])
#
# Declares one folder under cpp/ as a library `penstock_<room>`: static when it has sources,
# INTERFACE when it has only headers. DEPENDS names other rooms, LINK names targets from
# outside. TESTS become one executable `<room>_test`, known to ctest under that name and built
# only with PENSTOCK_BUILD_TESTS=ON. Each of FUZZ becomes a libFuzzer program of its own in
# <build>/fuzzers, built only with PENSTOCK_BUILD_FUZZ=ON (`make fuzz`).
#
# Sources are listed one by one: no globbing, so that a file that is added or removed always
# triggers a new configure.
function(penstock_room)
  cmake_parse_arguments(PARSE_ARGV 0 ROOM "" "NAME" "SOURCES;DEPENDS;LINK;TESTS;FUZZ")
  if(ROOM_UNPARSED_ARGUMENTS OR NOT ROOM_NAME)
    message(FATAL_ERROR "penstock_room: wrong arguments: ${ARGV}")
  endif()

  set(room penstock_${ROOM_NAME})
  set(dependencies Threads::Threads ${ROOM_LINK})
  foreach(dependency IN LISTS ROOM_DEPENDS)
    list(APPEND dependencies penstock_${dependency})
  endforeach()

  if(ROOM_SOURCES)
    add_library(${room} STATIC ${ROOM_SOURCES})
    target_link_libraries(${room} PRIVATE penstock_options PUBLIC ${dependencies})
  else()
    add_library(${room} INTERFACE)
    target_link_libraries(${room} INTERFACE ${dependencies})
  endif()

  if(ROOM_TESTS AND PENSTOCK_BUILD_TESTS)
    add_executable(${ROOM_NAME}_test ${ROOM_TESTS})
    target_link_libraries(${ROOM_NAME}_test
      PRIVATE ${room} penstock_options GTest::gtest GTest::gtest_main)
    add_test(NAME ${ROOM_NAME}_test COMMAND ${ROOM_NAME}_test)
    set_tests_properties(${ROOM_NAME}_test PROPERTIES TIMEOUT 600)
  endif()

  if(PENSTOCK_BUILD_FUZZ)
    foreach(source IN LISTS ROOM_FUZZ)
      get_filename_component(target ${source} NAME_WE)
      add_executable(${target} ${source})
      target_link_libraries(${target} PRIVATE ${room} penstock_options)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzzers")
      add_dependencies(fuzzers ${target})
    endforeach()
  endif()
endfunction()
