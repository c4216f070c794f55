# assay_executorch_testee(TARGET) defines the module TARGET_testee for `assay kernels ./libTARGET_testee.so`. It has
# the kernels that the static library TARGET registers with ExecuTorch's macros, and the ExecuTorch that TARGET is
# linked with.
function(assay_executorch_testee target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  add_library(${target}_testee MODULE)
  target_link_libraries(${target}_testee PRIVATE assay::executorch_kernels $<LINK_LIBRARY:WHOLE_ARCHIVE,${target}>)
endfunction()
