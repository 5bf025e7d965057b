# Installs the libraries, their headers and what finds them: a CMake package (components attention,
# translate, regard) and one pkg-config file for each.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/regard)

install(DIRECTORY regard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h"
  PATTERN "*-inl.h" EXCLUDE
  PATTERN "simd_targets.h" EXCLUDE
  PATTERN "*_test_util.h" EXCLUDE
  PATTERN "reference" EXCLUDE
  PATTERN "testdata" EXCLUDE
  PATTERN "cli" EXCLUDE)

# One export set for each library, so that regard::attention can be found without the others' needs.
foreach(component attention translate regard)
  install(TARGETS regard_${component} EXPORT regard-${component}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT regard-${component} NAMESPACE regard:: DESTINATION ${package_dir})
endforeach()
if(TARGET regard)
  install(TARGETS regard RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(cmake/regard-config.cmake.in
  ${PROJECT_BINARY_DIR}/regard-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/regard-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/regard-config.cmake
  ${PROJECT_BINARY_DIR}/regard-config-version.cmake DESTINATION ${package_dir})

# The libraries are static, so their own needs are required of everyone who links them.
function(regard_pkg_config name description library requires)
  file(RELATIVE_PATH prefix_from_here /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" prefix_from_here ${prefix_from_here})
  configure_file(cmake/regard.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
regard_pkg_config(regard-attention "Attention operators with gradients for CPUs" regard_attention "")
regard_pkg_config(regard-translate "Runs regard's sequence-to-sequence models" regard_translate
  "regard-attention libutf8proc libzstd zlib")
set(subword_requires)
if(REGARD_SUBWORD)
  set(subword_requires " sentencepiece")
endif()
regard_pkg_config(regard "Trains and runs sequence-to-sequence models with attention"
  regard_regard "regard-translate${subword_requires}")
