# GoogleTest: Debian's library, or its sources built with the cross compiler. Without either the unit tests are
# left out, since a user who only runs the program needs no test library.
if(CMAKE_CROSSCOMPILING)
  set(INSTALL_GTEST OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0063 NEW)
  add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
else()
  find_package(GTest)
endif()
