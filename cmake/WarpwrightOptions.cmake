# Compiler settings shared by every target, in one interface target.
option(WW_WERROR "Warnings are errors" OFF)
option(WW_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(WW_FUZZ "Build the fuzzers (clang)" OFF)
option(WW_PORTABLE "Link so that the binary runs on any x86-64-v3 Linux with a driver" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
find_package(Threads REQUIRED)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(ww_options INTERFACE)
target_include_directories(ww_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
# FP contraction stays off: every fused operation in the emulator is written as one.
target_compile_options(ww_options INTERFACE
  -march=x86-64-v3 -maes -mpclmul -ffp-contract=off -fno-math-errno -fno-trapping-math
  -Wall -Wextra -Wno-missing-field-initializers)
target_compile_definitions(ww_options INTERFACE TOML_HEADER_ONLY=1)
add_library(ww_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_library.cpp)
target_link_libraries(ww_options INTERFACE ww_fmt Threads::Threads ${CMAKE_DL_LIBS})
if(WW_WERROR)
  target_compile_options(ww_options INTERFACE -Werror)
endif()
if(WW_SANITIZE)
  target_compile_options(ww_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  target_link_options(ww_options INTERFACE -fsanitize=address,undefined)
endif()
if(WW_FUZZ)
  target_compile_options(ww_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(ww_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(WW_PORTABLE)
  target_link_options(ww_options INTERFACE -static-libstdc++ -static-libgcc)
endif()
