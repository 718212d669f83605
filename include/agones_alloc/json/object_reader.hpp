// A stream of JSON documents about Kubernetes objects, in chunks that break anywhere.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/detail/pruning_handler.hpp>

#include <boost/json/basic_parser.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Where in a document the objects stand.
enum class object_place : std::uint8_t {
  document = 1,  ///< the document is one
  event = 2,     ///< in a member, as in a watch event
  list = 3,      ///< in an array in a member, as in a list's `items`
};

struct object_reader_options {
  object_place place{object_place::document};
  std::size_t max_bytes{8U << 20U};  ///< of one document; etcd refuses objects over 1.5 MiB
  std::size_t max_depth{64};         ///< nested arrays and objects
  /// Else the objects' `spec` and `metadata.ownerReferences` are left out; `metadata.managedFields` always is.
  bool keep_spec{false};
};

/// Parses as the bytes come: no text is gathered, and a document's value is the only copy. It rejects what parse_json
/// rejects. Not thread-safe; not movable.
class object_reader {
 public:
  AGONES_ALLOC_DECL explicit object_reader(object_reader_options = {});
  AGONES_ALLOC_DECL ~object_reader();
  object_reader(object_reader const&) = delete;
  auto operator=(object_reader const&) -> object_reader& = delete;

  /// Takes the bytes of one document, or of its next part, off the front of `chunk`. The document, valid until the next
  /// call; null: `chunk` is used up and the document goes on. Errors, fault `syntax` or `limit`, are final: they come
  /// again. Offsets count from the document's start.
  AGONES_ALLOC_DECL auto next(std::string_view& chunk) -> decoded<boost::json::value const*>;

  /// True in the middle of a document.
  auto pending() const noexcept -> bool { return taken_ > 0; }

 private:
  auto fail(decode_fault, std::string message) -> decode_error;
  void begin();

  object_reader_options options_;
  std::array<unsigned char, 16 * 1024> block_;  ///< an ordinary object fits without the heap
  boost::json::monotonic_resource storage_;
  boost::json::basic_parser<detail::wire::pruning_handler> parser_;
  std::optional<boost::json::value> value_;
  std::optional<decode_error> failed_;
  std::size_t taken_{0};  ///< bytes of the present document
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/object_reader.ipp>
#endif
