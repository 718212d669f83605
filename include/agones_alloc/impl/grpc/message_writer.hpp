// Fields of a protobuf message, written one after another.
#pragma once

#include <agones_alloc/config.hpp>

#include <google/protobuf/io/coded_stream.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// For messages whose every part would else be copied into objects of protobuf's own, of several blocks of memory each, to be written
/// once and dropped. Writes in the order of its calls; what it is told must be the field's type.
class message_writer {
 public:
  explicit message_writer(std::size_t expected_bytes) { out_.reserve(expected_bytes); }

  /// A string that is left out where it is "", as the default of a field.
  void text(std::uint32_t field, std::string_view value) {
    if (!value.empty()) item(field, value);
  }
  /// One that is there also when it is "": of a repeated field or a map.
  void item(std::uint32_t field, std::string_view value) {
    head(field, with_length, value.size());
    out_.append(value);
  }
  /// An int32 or int64, left out where it is 0.
  void number(std::uint32_t field, std::int64_t value) {
    if (value != 0) head(field, plain, static_cast<std::uint64_t>(value));
  }
  /// A message in the message, whose fields `write` writes; an entry of a map is one, with the key as 1 and the value as 2.
  template <class Write>
  void part(std::uint32_t field, Write write) {
    head(field, with_length, 0);
    auto const at = out_.size();
    write();
    // Its length is known only now, and in front of it. For most one byte is enough, which is there.
    std::array<std::uint8_t, most_bytes> length{};
    auto const* const end = put(length.data(), out_.size() - at);
    out_.replace(at - 1, 1, reinterpret_cast<char const*>(length.data()), static_cast<std::size_t>(end - length.data()));
  }
  auto take() -> std::string { return std::move(out_); }

 private:
  enum kind : std::uint32_t { plain = 0, with_length = 2 };
  static constexpr std::size_t most_bytes = 10;  ///< of a number

  /// As protobuf writes numbers. Returns the end.
  static auto put(std::uint8_t* at, std::uint64_t value) noexcept -> std::uint8_t* {
    return google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value, at);
  }
  void append(std::uint8_t const* begin, std::uint8_t const* end) {
    out_.append(reinterpret_cast<char const*>(begin), static_cast<std::size_t>(end - begin));
  }
  /// What a field begins with: its number and kind, then its value or the value's length.
  void head(std::uint32_t field, kind what, std::uint64_t value) {
    std::array<std::uint8_t, 2 * most_bytes> bytes{};
    append(bytes.data(), put(put(bytes.data(), field << 3U | what), value));
  }

  std::string out_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
