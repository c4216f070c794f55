# Selective builds: a static library of the optimized runtime that has only the kernels and rewrites that
# programs need. A selection, which `assay select` writes, lists the kernels with the dtypes and layouts of their operands.
# A method with another call is refused when it is made.
#
# assay_select(TARGET PROGRAMS FILE... [DATA FILE...] [ONLY FILE])
#   asks the command what the programs need. ONLY is another selection, which must have each line of the result.
# assay_select(TARGET SELECTION FILE)
#   takes a selection that was kept.
#
# Clients include optimized/api/assay.h. The build prints the sizes of the kernels and writes them to <TARGET>.sizes.txt.

set(assay_select_source ${PROJECT_SOURCE_DIR} CACHE INTERNAL "The folder of assay's sources")
set(assay_select_python ${Python3_EXECUTABLE} CACHE INTERNAL "The Python that runs assay's generators")

# The libraries that selections are linked from. The core is compiled for size, with a section for each function; the
# functions of the interface share one, as all of them stay.
function(assay_add_selectable)
  get_target_property(format_sources assay_format SOURCES)
  list(FILTER format_sources INCLUDE REGEX "\\.cpp$")
  list(TRANSFORM format_sources PREPEND ${PROJECT_SOURCE_DIR}/format/)
  get_target_property(planning_sources assay_planning SOURCES)
  set(optional ${core})  # library members of their own: a client without packed constants, or without names of steps, does not link them
  list(FILTER optional INCLUDE REGEX "/(api/packed|api/steps|packed/packed)\\.cpp$")
  list(REMOVE_ITEM core ${optional})
  add_library(assay_selectable_optional OBJECT EXCLUDE_FROM_ALL ${optional})
  add_library(assay_selectable_core STATIC EXCLUDE_FROM_ALL ${core} ${format_sources} ${planning_sources} ${generated}/rewrites.gen.h)
  add_library(assay_selectable_kernels STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:assay_selection>)
  target_compile_options(assay_selectable_core PRIVATE -Oz)
  target_compile_options(assay_selectable_optional PRIVATE -Os)
  foreach(part IN ITEMS assay_selectable_core assay_selectable_optional)
    target_link_libraries(${part} PUBLIC assay::format assay::kernels)
    target_include_directories(${part} PUBLIC ${generated})
    target_compile_options(${part} PRIVATE ${deployable} -ffunction-sections -fdata-sections)
    target_compile_definitions(${part} PRIVATE NDEBUG)
  endforeach()
  set_source_files_properties(api/api.cpp PROPERTIES COMPILE_OPTIONS -fno-function-sections)
  set_source_files_properties(api/steps.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(assay_select target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SELECTION;ONLY" "PROGRAMS;DATA")
  if(arg_UNPARSED_ARGUMENTS OR (NOT arg_PROGRAMS AND NOT arg_SELECTION) OR (arg_PROGRAMS AND arg_SELECTION))
    message(FATAL_ERROR "assay_select(TARGET PROGRAMS FILE... [DATA FILE...] [ONLY FILE]) or assay_select(TARGET SELECTION FILE)")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${folder})
  list(TRANSFORM arg_PROGRAMS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  if(arg_SELECTION)
    cmake_path(ABSOLUTE_PATH arg_SELECTION OUTPUT_VARIABLE selection)
  else()
    set(selection ${folder}/selection.yaml)
    set(options "")
    foreach(file IN LISTS arg_DATA)
      cmake_path(ABSOLUTE_PATH file)
      list(APPEND options --data ${file})
    endforeach()
    if(arg_ONLY)
      cmake_path(ABSOLUTE_PATH arg_ONLY)
      list(APPEND options --only ${arg_ONLY})
    endif()
    add_custom_command(
      OUTPUT ${selection}
      COMMAND assay select ${arg_PROGRAMS} ${options} -o ${folder}
      DEPENDS assay ${arg_PROGRAMS} ${arg_DATA} ${arg_ONLY}
      VERBATIM)
  endif()

  set(optimized ${assay_select_source}/optimized)
  set(generator ${optimized}/table.py ${optimized}/selection/kernels.yaml ${optimized}/rewrite/rewrites.yaml)
  set(tables ${folder}/kernels.gen.h ${folder}/pointwise.gen.h ${folder}/plain.gen.h ${folder}/rewrites.gen.h ${folder}/tables.gen.cpp)
  add_custom_command(
    OUTPUT ${tables}
    COMMAND ${assay_select_python} ${generator} ${folder} ${selection}
    DEPENDS ${generator} ${selection}
    VERBATIM)
  add_library(${target}_tables OBJECT EXCLUDE_FROM_ALL ${tables})
  target_link_libraries(${target}_tables PRIVATE assay::format assay::kernels)
  target_compile_features(${target}_tables PRIVATE cxx_std_20)
  target_compile_options(${target}_tables PRIVATE -fno-exceptions -fno-rtti)

  set(sizes ${assay_select_source}/cmake/sizes.py)
  add_custom_command(
    OUTPUT ${folder}/${target}.o
    BYPRODUCTS ${folder}/${target}.sizes.txt
    COMMAND ${CMAKE_LINKER} -r --gc-sections --unique -u assay_program_open -o ${folder}/${target}.o $<TARGET_OBJECTS:${target}_tables>
            $<TARGET_FILE:assay_selectable_core> $<TARGET_FILE:assay_selectable_kernels> $<TARGET_FILE:assay_kernels>
    COMMAND ${assay_select_python} ${sizes} ${folder}/${target}.o ${selection} ${folder}/${target}.sizes.txt
    DEPENDS ${target}_tables $<TARGET_OBJECTS:${target}_tables> assay_selectable_core assay_selectable_kernels assay_kernels ${sizes}
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(${target} STATIC ${folder}/${target}.o $<TARGET_OBJECTS:assay_selectable_optional>)
  set_source_files_properties(${folder}/${target}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} INTERFACE ${assay_select_source})
  target_link_libraries(${target} INTERFACE m)
endfunction()
