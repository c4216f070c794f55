# Debian's compiler for a Cortex-M55 without an operating system. Header-only libraries are the host's. Links in a
# folder of their own make them visible, because /usr/include also has the headers of the host's C library.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m55)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m55 -mfloat-abi=hard")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_INCLUDE_PATH ${CMAKE_BINARY_DIR}/host_headers)
file(MAKE_DIRECTORY ${CMAKE_INCLUDE_PATH})
foreach(library IN ITEMS flatbuffers hwy xxhash.h)
  file(CREATE_LINK /usr/include/${library} ${CMAKE_INCLUDE_PATH}/${library} SYMBOLIC)
endforeach()
