# How tests, benches and fuzz programs are made. Without cmocka only the program is built.
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(TRIMTAB_TESTS STREQUAL "AUTO")
  set(build_tests ${CMOCKA_FOUND})
  if(NOT build_tests)
    message(STATUS "cmocka not found: building without tests (scripts/setup test installs it)")
  endif()
else()
  set(build_tests ${TRIMTAB_TESTS})
  if(build_tests AND NOT CMOCKA_FOUND)
    message(FATAL_ERROR "TRIMTAB_TESTS is ON and cmocka is missing: run scripts/setup test")
  endif()
endif()
if(TRIMTAB_FUZZ AND NOT CMAKE_C_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "TRIMTAB_FUZZ needs clang: add -DCMAKE_C_COMPILER=clang-14")
endif()

# Only to end a test that hangs; sanitizers and a busy machine make everything slower.
set(test_timeout 120)
if(TRIMTAB_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Debug)
  set(test_timeout 600)
endif()
set(test_environment "ASAN_OPTIONS=handle_segv=2:detect_leaks=1;UBSAN_OPTIONS=print_stacktrace=1")
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  find_program(symbolizer NAMES llvm-symbolizer-14 llvm-symbolizer)
  if(symbolizer)
    list(APPEND test_environment "ASAN_SYMBOLIZER_PATH=${symbolizer}"
      "TSAN_OPTIONS=external_symbolizer_path=${symbolizer}")
  endif()
endif()

# `make check` gives ctest two slots a core (SLOTS). What computes takes two of them, what mostly waits (daemons, real servers)
# takes one, so that nobody waits for what waits. COST: long ones begin first.
# test_program(NAME SOURCE LIBRARY...): an executable that sees src/ and tests/; not yet a test.
function(test_program name source)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARGN})
  target_compile_definitions(${name} PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}" BUILD_DIR="${CMAKE_BINARY_DIR}"
    TRIMTAB_BINARY="${CMAKE_BINARY_DIR}/trimtab")
endfunction()

# room_test(TEST-NAME SOURCE LIBRARY LABEL...): a cmocka program and the test that runs it.
function(room_test test source link)
  if(NOT build_tests)
    return()
  endif()
  test_program(${test} ${source} ${link} PkgConfig::CMOCKA)
  add_test(NAME ${test} COMMAND ${test})
  set_tests_properties(${test} PROPERTIES LABELS "${ARGN}" TIMEOUT ${test_timeout} PROCESSORS 2 ENVIRONMENT "${test_environment}")
endfunction()
