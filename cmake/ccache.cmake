# ccache is used where it is installed; nothing needs it.
find_program(SMOL_CCACHE ccache)
if(SMOL_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SMOL_CCACHE})
endif()
