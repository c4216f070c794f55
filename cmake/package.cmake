# cpack makes a Debian package and an archive of everything that `cmake --install` installs.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_CONTACT "the assay authors <maintainers@assay.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX ${ASSAY_PACKAGE_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libflatbuffers-dev)                # for clients that link assay::runtime
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, python3, python3-numpy")  # for testees python:MODULE
include(CPack)
