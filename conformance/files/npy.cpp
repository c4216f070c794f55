#include "conformance/files/npy.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/text/layout.h"
#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"
#include "dtype_lists.gen.h"
#include "reference/value.h"

namespace assay::files {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::string_view header_rule = "npy.header";
using DTypeCode = std::pair<DType, std::string_view>;

// '<' little endian, '>' big endian, '|' not applicable, '=' the machine's byte order.
DType dtype_of(std::string_view descr) {
  const bool ordered = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const auto row = std::ranges::find(numpy_codes, descr.substr(ordered), &DTypeCode::second);
  if (row == std::end(numpy_codes))
    throw Fault(Outcome::unsupported, "npy.dtype",
                concat("dtype ", text::Quoted{descr}, " is none that a tensor has (bfloat16 is 'V2')"));
  if (descr[0] == '>' && info(row->first).bytes > 1)
    throw Fault(Outcome::unsupported, "npy.dtype",
                concat("dtype ", text::Quoted{descr}, " is big endian, but must be little endian"));
  return row->first;
}

struct Header {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<Ints> shape;
};

// Reads the header, a dict with three keys in any order: a string, a bool and a tuple of integers.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  Header read() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr")
        header.descr = descr();
      else if (key == "fortran_order")
        header.fortran_order = boolean();
      else if (key == "shape")
        header.shape = shape();
      else
        text::well_formed(false, header_rule, "key ", text::Quoted{key}, " is none of descr, fortran_order and shape");
      if (!accept(',')) expect('}', true);
    }
    skip();
    text::well_formed(rest_.empty(), header_rule, "something stands behind the header's dict");
    return header;
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool accept(char c) {
    skip();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c, bool keep = false) {
    skip();
    text::well_formed(rest_.starts_with(c), header_rule, '\'', c, "' is missing before ",
                      text::Quoted{rest_.substr(0, 20)});
    if (!keep) rest_.remove_prefix(1);
  }
  std::string_view string() {
    const char quote = (skip(), rest_.starts_with('"') ? '"' : '\'');
    expect(quote);
    const std::size_t end = rest_.find(quote);
    text::well_formed(end != std::string_view::npos, header_rule, "a string does not end");
    const std::string_view s = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return s;
  }
  std::string_view descr() {
    if (accept('['))
      throw Fault(Outcome::unsupported, "npy.dtype", "the elements are records, but a tensor has one dtype");
    return string();
  }
  bool boolean() {
    skip();
    const bool yes = rest_.starts_with("True"), no = rest_.starts_with("False");
    text::well_formed(yes || no, header_rule, "fortran_order is neither True nor False");
    rest_.remove_prefix(yes ? 4 : 5);
    return yes;
  }
  Ints shape() {
    Ints sizes;
    expect('(');
    while (!accept(')')) {
      Int n = 0;
      skip();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
      text::well_formed(error == std::errc() && n >= 0, header_rule, "shape holds ", text::Quoted{rest_.substr(0, 20)},
                        ", which begins with no size");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (sizes.size() == max_rank)
        throw Fault(Outcome::exhausted, "limits.rank", concat("a tensor has at most ", max_rank, " dimensions"));
      sizes.push_back(n);
      if (!accept(',')) expect(')', true);
    }
    return sizes;
  }

  std::string_view rest_;
};

bool starts_with_magic(std::span<const std::byte> file) {
  return file.size() >= magic.size() && std::ranges::equal(file.first(magic.size()), std::as_bytes(std::span(magic)));
}

// The header and the data of a file.
std::pair<std::string_view, std::span<const std::byte>> parts(std::span<const std::byte> file) {
  const std::string_view all(reinterpret_cast<const char*>(file.data()), file.size());
  text::well_formed(starts_with_magic(file) && all.size() >= 10, "npy.magic",
                    "the file is no .npy file: it does not begin with \\x93NUMPY and a version");
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(file[i]); };
  const std::size_t version = byte(6);
  text::well_formed(1 <= version && version <= 3, "npy.magic", "the format's version is ", version,
                    ", but must be 1 to 3");
  const std::size_t begin = version == 1 ? 10 : 12;
  text::well_formed(file.size() >= begin, header_rule, "the file ends in the length of its header");
  const std::size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
  text::well_formed(length <= file.size() - begin, header_rule, "the header has ", length, " bytes, but the file only ",
                    file.size() - begin, " behind its length");
  return {all.substr(begin, length), file.subspan(begin + length)};
}

// A tensor without bytes; its dim order is the order in the file.
Tensor layout_of(const Header& header) {
  text::well_formed(header.descr && header.fortran_order && header.shape, header_rule,
                    "one of descr, fortran_order and shape is missing");
  const DType dtype = dtype_of(*header.descr);
  try {
    Tensor tensor = text::layout(dtype, *header.shape);
    if (*header.fortran_order) std::ranges::reverse(tensor.dim_order);
    return tensor;
  } catch (Fault& fault) {
    if (fault.outcome == Outcome::malformed) fault.rule = header_rule;
    throw;
  }
}

}  // namespace

Tensor decode_npy(std::span<const std::byte> file) {
  const auto [header, data] = parts(file);
  Tensor tensor = layout_of(HeaderReader(header).read());
  text::well_formed(data.size() == text::byte_count(tensor), "npy.data", "the data has ", data.size(), " bytes, but ",
                    tensor.dtype, ' ', tensor.sizes, " takes ", text::byte_count(tensor));
  tensor.bytes.assign(data.begin(), data.end());
  return arranged(tensor, Dims::counting(tensor.rank()));
}

Tensor read_npy(const std::filesystem::path& path, const Access& access) {
  const auto extent = [](std::span<const std::byte> head) {
    return starts_with_magic(head) ? std::numeric_limits<std::uint64_t>::max() : head.size();
  };
  const File file = open_file(path, access, extent);
  return text::within([&] { return decode_npy(file.bytes); }, text::printable(path.string()));
}

std::vector<std::byte> encode_npy(const Tensor& tensor) {
  const auto row = std::ranges::find(numpy_codes, tensor.dtype, &DTypeCode::first);
  if (row == std::end(numpy_codes))
    throw Fault(Outcome::unsupported, "npy.dtype", concat(tensor.dtype, " is no dtype of numpy's"));
  const char order = info(tensor.dtype).bytes == 1 || row->second[0] == 'V' ? '|' : '<';
  std::string shape;
  for (const Int n : tensor.sizes) shape += std::to_string(n) + (tensor.rank() == 1 ? "," : ", ");
  if (tensor.rank() > 1) shape.resize(shape.size() - 2);
  std::string header =
      concat("{'descr': '", order, row->second, "', 'fortran_order': False, 'shape': (", shape, "), }");
  constexpr std::size_t before = 10, alignment = 64;
  header.resize((before + header.size() + 1 + alignment - 1) / alignment * alignment - before - 1, ' ');
  header += '\n';

  std::string start(magic);
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, header.size() & 0xff, header.size() >> 8})
    start += static_cast<char>(byte);
  start += header;
  const Tensor plain = arranged(tensor, Dims::counting(tensor.rank()));
  std::vector<std::byte> file(start.size() + plain.bytes.size());
  std::ranges::copy(plain.bytes, std::ranges::copy(std::as_bytes(std::span(start)), file.begin()).out);
  return file;
}

}  // namespace assay::files
