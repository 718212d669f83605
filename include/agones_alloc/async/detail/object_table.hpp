// Versioned game servers and the history of their changes: the data of a memory_store, without its I/O.
#pragma once

#include <agones_alloc/async/store_change.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/cache/word_sharing.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/text_hash.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/server_source.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A key without its references to count: for look-ups.
struct object_key_view {
  explicit object_key_view(object_key const& key) noexcept : namespace_{key.namespace_}, name{key.name} {}
  explicit object_key_view(object_meta const& meta) noexcept : namespace_{meta.namespace_}, name{meta.name} {}
  shared_string const& namespace_;
  shared_string const& name;
};

struct object_key_hash {
  using is_transparent = void;
  auto operator()(object_key_view key) const noexcept -> std::size_t {
    return text_hash(key.name, text_hash(key.namespace_, 0));
  }
  auto operator()(object_key const& key) const noexcept -> std::size_t { return (*this)(object_key_view{key}); }
};

struct object_key_equal {
  using is_transparent = void;
  template <class A, class B>
  auto operator()(A const& a, B const& b) const noexcept -> bool {
    return a.name == b.name && a.namespace_ == b.namespace_;
  }
};

/// One counter gives every change its resource version. Not thread-safe.
class object_table {
 public:
  object_table(std::size_t history, std::uint64_t first_version)
      : limit_{history}, version_{first_version}, forgotten_{first_version} {}

  AGONES_ALLOC_DECL auto create(game_server, timestamp now) -> result<game_server_ptr>;
  /// `desired`, which nobody else holds, replaces the object if the table still holds base's version; uid and
  /// creation stay. `quiet`: without a change that watches hear of.
  AGONES_ALLOC_DECL auto update(game_server const& base, std::shared_ptr<game_server> desired, bool quiet = false)
      -> result<game_server_ptr>;
  AGONES_ALLOC_DECL auto remove(object_key const&, std::string_view uid) -> result<game_server_ptr>;
  AGONES_ALLOC_DECL auto find(object_key const&) const -> game_server_ptr;
  AGONES_ALLOC_DECL auto list() const -> server_list;
  auto size() const noexcept -> std::size_t { return objects_.size(); }

  /// Changes after `from`, at most `most`; errc::too_old when they are forgotten, or `from` is none of ours.
  AGONES_ALLOC_DECL auto changes_after(std::uint64_t from, std::size_t most) const -> result<server_events>;
  /// The same, with what servers were before their labels changed.
  AGONES_ALLOC_DECL auto full_changes_after(std::uint64_t from, std::size_t most) const -> result<store_changes>;
  auto has_changes_after(std::uint64_t from) const noexcept -> bool {
    return from < forgotten_ || from > version_ || (!history_.empty() && history_.back().version > from);
  }
  AGONES_ALLOC_DECL void forget_history();

 private:
  struct stored {
    game_server_ptr server;
    std::uint64_t version{0};
  };
  struct change {
    std::uint64_t version;
    server_event event;
    game_server_ptr relabelled;
  };
  void remember(server_event::kind, game_server_ptr, game_server_ptr relabelled = nullptr);
  /// The first change after `from`; nullopt when those are forgotten, or `from` is none of ours.
  auto first_after(std::uint64_t from) const -> std::optional<std::deque<change>::const_iterator>;

  // As the cache shares them: it can keep the table's own objects then, and there is one of each.
  word_sharing<null_mutex> sharing_{cache_options{}.shared_label_sets, cache_options{}.shared_words};
  boost::unordered_flat_map<object_key, stored, object_key_hash, object_key_equal> objects_;
  std::deque<change> history_;
  std::size_t limit_;
  std::uint64_t version_;
  std::uint64_t forgotten_;  ///< changes up to this version are no longer in history_
};

/// The version as decimal text, and back; nullopt when `text` is no such number.
AGONES_ALLOC_DECL auto version_text(std::uint64_t) -> shared_string;
AGONES_ALLOC_DECL auto version_number(std::string_view text) noexcept -> std::optional<std::uint64_t>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/detail/object_table.ipp>
#endif
