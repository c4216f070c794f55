include(${CMAKE_CURRENT_LIST_DIR}/assay-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/executorch.cmake OPTIONAL)  # only an installation with the command has it

# assay::runtime and assay::program need flatbuffers. Without flatbuffers, only assay::reference is defined.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/assay-runtime-targets.cmake)
  find_package(FlatBuffers QUIET)
  if(FlatBuffers_FOUND)
    include(${CMAKE_CURRENT_LIST_DIR}/assay-runtime-targets.cmake)
  endif()
endif()
