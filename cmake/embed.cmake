# Embeds a file's bytes as a C++ constant.
#
# embed(TARGET FILE) gives TARGET the header "<name of FILE>.h" that defines
# std::string_view assay::embedded::<name of FILE with every other character as _>.
# Run with cmake -P (INPUT, OUTPUT, SYMBOL), this same file writes that header.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(embed_script ${CMAKE_CURRENT_LIST_FILE} CACHE INTERNAL "writes a file as a C++ header")

  function(embed target file)
    cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE input)
    cmake_path(GET input FILENAME name)
    string(MAKE_C_IDENTIFIER ${name} symbol)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
    add_custom_command(
      OUTPUT ${folder}/${name}.h
      COMMAND ${CMAKE_COMMAND} -D INPUT=${input} -D OUTPUT=${folder}/${name}.h -D SYMBOL=${symbol}
              -P ${embed_script}
      DEPENDS ${input} ${embed_script}
      VERBATIM)
    target_sources(${target} PRIVATE ${folder}/${name}.h)
    target_include_directories(${target} PRIVATE ${folder})
  endfunction()
  return()
endif()

# An array, because a compiler need not accept a string literal of more than 65536 characters.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT} "#pragma once
#include <string_view>
namespace assay::embedded {
inline constexpr char ${SYMBOL}_bytes[] = {${bytes}};
inline constexpr std::string_view ${SYMBOL}(${SYMBOL}_bytes, sizeof ${SYMBOL}_bytes);
}
")
