include(${CMAKE_CURRENT_LIST_DIR}/assay-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/executorch.cmake OPTIONAL)  # of an installation with the command

# assay::runtime and assay::program need flatbuffers; without it there is assay::reference alone.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/assay-runtime-targets.cmake)
  find_package(FlatBuffers QUIET)
  if(FlatBuffers_FOUND)
    include(${CMAKE_CURRENT_LIST_DIR}/assay-runtime-targets.cmake)
  endif()
endif()
