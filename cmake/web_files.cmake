# The files of web/ as bytes in the program, with a table of their names (src/page/web_files.h).
function(smol_embed_web target)
  set(root ${PROJECT_SOURCE_DIR}/web)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${root} ${root}/static/* ${root}/templates/*)
  list(FILTER files EXCLUDE REGEX "README|sha256$")
  list(SORT files)
  set(blocks "")
  set(names "")
  set(entries "")
  set(paths "")
  set(index 0)
  foreach(file ${files})
    set(symbol smol_web_${index})
    string(APPEND blocks "asm(R\"(.pushsection .rodata\n.globl ${symbol}, ${symbol}_end\n${symbol}:\n"
           ".incbin \"${root}/${file}\"\n${symbol}_end:\n.byte 0\n.popsection\n)\");\n")
    string(APPEND names "extern const char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND entries "    {\"${file}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
    list(APPEND paths ${root}/${file})
    math(EXPR index "${index} + 1")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/generated/web_files.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// Made by cmake/web_files.cmake.
#include \"page/web_files.h\"

#include <array>
#include <cstddef>

${blocks}
extern \"C\" {
${names}}

namespace smol::page {

std::span<const WebFile> web_files() noexcept {
  static const std::array<WebFile, ${index}> kFiles{{
${entries}  }};
  return kFiles;
}

}  // namespace smol::page
")
  # Not part of the tidy and unity builds' joined sources; made again when one of the files changes.
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${paths}" SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${source})
endfunction()
