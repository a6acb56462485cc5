# `cmake --install` and the package for Debian: `cpack -G DEB`, run in the build folder (./dev package does both).
include(GNUInstallDirs)

# The man page and the completions are printed by gexp itself.
set(made ${CMAKE_BINARY_DIR}/install)
add_custom_command(
  OUTPUT ${made}/gexp.1.gz ${made}/gexp.bash ${made}/_gexp ${made}/gexp.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
  COMMAND gexp man > ${made}/gexp.1
  COMMAND gzip -9nf ${made}/gexp.1
  COMMAND gexp completions bash > ${made}/gexp.bash
  COMMAND gexp completions zsh > ${made}/_gexp
  COMMAND gexp completions fish > ${made}/gexp.fish
  DEPENDS gexp
  VERBATIM)
add_custom_target(gexp_install_files DEPENDS ${made}/gexp.1.gz)

install(TARGETS gexp)
install(DIRECTORY experiments DESTINATION ${CMAKE_INSTALL_DATADIR}/gexp FILES_MATCHING PATTERN "*.gexp" PATTERN "*.cu" PATTERN "*.ptx" PATTERN "deep.txt")
install(FILES ${made}/gexp.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${made}/gexp.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gexp)
install(FILES ${made}/_gexp DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/gexp.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gexp)
set(CPACK_PACKAGE_CONTACT "The gexp authors <gexp@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "experiment compiler for GPU memory hierarchies")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "gexp compiles a text that describes an experiment to CUDA, runs it on a GPU or on a simulated one, and says what the records
 show of caches, translation and memory, each finding with its confidence.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# NVRTC is loaded at run time. Debian's is in its non-free part, and a toolkit's will do, so it is recommended and not required.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libnvrtc11.2)
include(CPack)
