// Fields of a protobuf message, written one after another.
#pragma once

#include <agones_alloc/config.hpp>

#include <google/protobuf/io/coded_stream.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// For messages whose every part would else be copied into objects of protobuf's own, of several blocks of memory each, to be written
/// once and dropped. Writes in the order of its calls; what it is told must be the field's type.
class message_writer {
 public:
  explicit message_writer(std::size_t expected_bytes) : out_(expected_bytes, '\0') {}

  /// A string that is left out where it is "", as the default of a field.
  void text(std::uint32_t field, std::string_view value) {
    if (!value.empty()) item(field, value);
  }
  /// One that is there also when it is "": of a repeated field or a map.
  void item(std::uint32_t field, std::string_view value) {
    auto* const end = head(field, with_length, value.size(), value.size());
    if (!value.empty()) std::memcpy(end, value.data(), value.size());
    size_ += value.size();
  }
  /// An int32 or int64, left out where it is 0.
  void number(std::uint32_t field, std::int64_t value) {
    if (value != 0) head(field, plain, static_cast<std::uint64_t>(value), 0);
  }
  /// A message in the message, whose fields `write` writes; an entry of a map is one, with the key as 1 and the value as 2.
  template <class Write>
  void part(std::uint32_t field, Write write) {
    head(field, with_length, 0, 0);
    auto const at = size_;
    write();
    // Its length is known only now, and in front of it. For most one byte is enough, which is there.
    auto const length = size_ - at;
    if (length < 0x80) {
      out_[at - 1] = static_cast<char>(length);
      return;
    }
    std::array<std::uint8_t, most_bytes> bytes{};
    auto const more = static_cast<std::size_t>(put(bytes.data(), length) - bytes.data()) - 1;
    room(more);
    auto* const begin = out_.data() + at;
    std::memmove(begin + more, begin, length);
    std::memcpy(begin - 1, bytes.data(), more + 1);
    size_ += more;
  }
  auto take() -> std::string {
    out_.resize(size_);
    return std::move(out_);
  }

 private:
  enum kind : std::uint32_t { plain = 0, with_length = 2 };
  static constexpr std::size_t most_bytes = 10;  ///< of a number

  /// As protobuf writes numbers. Returns the end.
  static auto put(std::uint8_t* at, std::uint64_t value) noexcept -> std::uint8_t* {
    return google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value, at);
  }
  void room(std::size_t more) {
    if (out_.size() - size_ < more) out_.resize(2 * (size_ + more));
  }
  /// What a field begins with: its number and kind, then its value or the value's length. Returns the end, behind which there is
  /// room for `more`.
  auto head(std::uint32_t field, kind what, std::uint64_t value, std::size_t more) -> char* {
    room(2 * most_bytes + more);
    auto* const begin = reinterpret_cast<std::uint8_t*>(out_.data() + size_);
    auto* const end = put(put(begin, field << 3U | what), value);
    size_ += static_cast<std::size_t>(end - begin);
    return out_.data() + size_;
  }

  std::string out_;  ///< with the room behind what is written
  std::size_t size_{0};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
