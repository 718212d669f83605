// Builds a JSON value from parse events, without the members that nobody wants.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/json/array.hpp>
#include <boost/json/error.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/string_view.hpp>
#include <boost/json/value_stack.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// A handler of boost::json::basic_parser. Kubernetes objects stand at `object_depth` (1: the document itself); their
/// `spec` and `metadata.ownerReferences`, unless kept, and their `metadata.managedFields` are read over: most of an
/// object's bytes, at the cost of the tokenizer alone.
class pruning_handler {
 public:
  using ec = boost::json::error_code;
  using text = boost::json::string_view;
  static constexpr std::size_t max_object_size = boost::json::object::max_size();
  static constexpr std::size_t max_array_size = boost::json::array::max_size();
  static constexpr std::size_t max_key_size = boost::json::string::max_size();
  static constexpr std::size_t max_string_size = boost::json::string::max_size();

  pruning_handler(std::size_t object_depth, bool keep_spec) noexcept
      : object_depth_{object_depth}, keep_spec_{keep_spec} {}

  boost::json::value_stack stack;

  /// Before each document: values are made in `storage`.
  void reset(boost::json::storage_ptr storage) noexcept {
    stack.reset(std::move(storage));
    key_.clear();
    depth_ = 0;
    skipping_ = false;
  }

  auto on_document_begin(ec&) const noexcept -> bool { return true; }
  auto on_document_end(ec&) const noexcept -> bool { return true; }
  auto on_object_begin(ec&) noexcept -> bool {
    ++depth_;
    if (auto* const dropped = dropped_here()) *dropped = 0;
    return true;
  }
  auto on_object_end(std::size_t n, ec&) -> bool {
    auto const* const dropped = dropped_here();
    --depth_;
    if (!skipped()) stack.push_object(dropped != nullptr ? n - *dropped : n);
    return true;
  }
  auto on_array_begin(ec&) noexcept -> bool {
    ++depth_;
    return true;
  }
  auto on_array_end(std::size_t n, ec&) -> bool {
    --depth_;
    if (!skipped()) stack.push_array(n);
    return true;
  }
  auto on_key_part(text s, std::size_t, ec&) -> bool {
    if (!skipping_) key_.append(s.data(), s.size());
    return true;
  }
  auto on_key(text s, std::size_t, ec&) -> bool {
    if (skipping_) return true;
    if (!key_.empty()) {
      key_.append(s.data(), s.size());
      s = key_;
    }
    if (depth_ == object_depth_) in_metadata_ = s == "metadata";
    if (unwanted({s.data(), s.size()})) {
      ++*dropped_here();
      skipping_ = true;
      skip_depth_ = depth_;
    } else {
      stack.push_key(s);
    }
    key_.clear();
    return true;
  }
  auto on_string_part(text s, std::size_t, ec&) -> bool {
    if (!skipping_) stack.push_chars(s);
    return true;
  }
  auto on_string(text s, std::size_t, ec&) -> bool {
    if (!skipped()) stack.push_string(s);
    return true;
  }
  auto on_number_part(text, ec&) const noexcept -> bool { return true; }
  auto on_int64(std::int64_t i, text, ec&) -> bool {
    if (!skipped()) stack.push_int64(i);
    return true;
  }
  auto on_uint64(std::uint64_t u, text, ec&) -> bool {
    if (!skipped()) stack.push_uint64(u);
    return true;
  }
  auto on_double(double d, text, ec&) -> bool {
    if (!skipped()) stack.push_double(d);
    return true;
  }
  auto on_bool(bool b, ec&) -> bool {
    if (!skipped()) stack.push_bool(b);
    return true;
  }
  auto on_null(ec&) -> bool {
    if (!skipped()) stack.push_null();
    return true;
  }
  auto on_comment_part(text, ec&) const noexcept -> bool { return true; }
  auto on_comment(text, ec&) const noexcept -> bool { return true; }

 private:
  auto unwanted(std::string_view key) const noexcept -> bool {
    if (depth_ == object_depth_) return !keep_spec_ && key == "spec";
    return depth_ == object_depth_ + 1 && in_metadata_ &&
           (key == "managedFields" || (!keep_spec_ && key == "ownerReferences"));
  }
  /// How many members of the object at this depth were read over; null where none ever is.
  auto dropped_here() noexcept -> std::size_t* {
    if (skipping_ || depth_ < object_depth_ || depth_ > object_depth_ + 1) return nullptr;
    return &dropped_[depth_ - object_depth_];
  }
  /// A value is complete: is it, or does it belong to, one that is read over?
  auto skipped() noexcept -> bool {
    if (!skipping_) return false;
    skipping_ = depth_ != skip_depth_;
    return true;
  }

  std::size_t object_depth_;
  bool keep_spec_;
  bool in_metadata_{false};
  bool skipping_{false};
  std::size_t skip_depth_{0};
  std::size_t depth_{0};
  std::array<std::size_t, 2> dropped_{};
  std::string key_;  ///< the front of a key that a chunk's end cut
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
