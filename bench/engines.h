#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "conformance/adapters/optimized/testee.h"
#include "conformance/testee/engine.h"
#include "conformance/wire/address.h"

namespace assay::bench {

// An argument such as "executorch=other.pte": an engine, and the file that it runs in place of the program. A command,
// such as "-- ssh board assay serve optimized", always runs the program.
struct Contender {
  std::string name;
  std::filesystem::path file;  // the file, as a path or a name beside the program; empty for the program itself
};

Contender contender(const std::string& argument);
std::string text_of(const Contender& contender);
std::filesystem::path program_of(const Contender& contender, const std::filesystem::path& program);

// Each function makes an engine. Each engine is implemented in a file of its own.
std::unique_ptr<testee::Engine> make_reference();
std::unique_ptr<testee::Engine> make_optimized(const adapters::OptimizedTestee& testee);
std::unique_ptr<testee::Engine> make_onnxruntime(const std::filesystem::path& library);
std::unique_ptr<testee::Engine> make_remote(const wire::Address& address);  // a server of the wire protocol

}  // namespace assay::bench
