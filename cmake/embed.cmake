# Embeds the files FOLDER/PATTERN into TARGET as `gexp::embedded::NAME()`: a list of {file name, text}.
function(gexp_embed target name folder pattern)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/${pattern})
  set(out ${CMAKE_BINARY_DIR}/embedded/${name}.cpp)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAME=${name} "-DFILES=${files}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
    COMMENT "Embedding ${folder}/${pattern}"
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
