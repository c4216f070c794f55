#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "conformance/files/file.h"
#include "reference/tensor.h"

// Tensors as numpy's .npy files: bool, uint8 to int64, float16, float32, float64, and bfloat16 as two raw bytes (V2).
namespace assay::files {

// A contiguous tensor from a file of format 1.0 to 3.0, little endian, in C or Fortran order. Throws Fault: malformed
// npy.magic, npy.header, npy.data; unsupported npy.dtype; exhausted limits.rank.
Tensor decode_npy(std::span<const std::byte> file);
Tensor read_npy(const std::filesystem::path& path, const Access& access);  // a fault's message begins with the path

// Writes format 1.0 with the values in row-major order. Throws unsupported npy.dtype if numpy does not have the dtype.
std::vector<std::byte> encode_npy(const Tensor& tensor);

}  // namespace assay::files
