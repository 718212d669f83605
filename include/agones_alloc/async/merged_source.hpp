// Several sources as one: the game servers of some namespaces, for instance.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/server_source.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One text for the resource versions of several sources, in their order: `5:12345,4:6789`. Each is opaque.
AGONES_ALLOC_DECL auto join_versions(std::vector<std::string> const&) -> std::string;
/// Nothing where the text is not such a join.
AGONES_ALLOC_DECL auto split_versions(std::string_view) -> std::optional<std::vector<std::string>>;

namespace detail {
class merged_core;
}

/// Lists and watches all sources; the resource version is the join of theirs. The sources' objects are to be different
/// ones. A list is complete when every source's is, and fails with the first that fails. A watch ends with the first
/// source that has events or fails; the others go on waiting, and what they find, at most one answer each, is given to
/// the next watch. When one source is too old, the whole is. While one that failed is not heard again, what the others find
/// is not `whole`; when it is, and there is nothing else to tell, a watch ends without events.
///
/// One call at a time: a second one fails with errc::invalid_request. Destroying it cancels. Lifetimes: the sources
/// must outlive it and, once it is destroyed, what is pending then. Thread safety: all functions from any thread.
class merged_source final : public server_source {
 public:
  /// Throws std::invalid_argument without sources, or for a null one.
  AGONES_ALLOC_DECL merged_source(boost::asio::any_io_executor, std::vector<server_source*>);
  AGONES_ALLOC_DECL ~merged_source() override;
  merged_source(merged_source const&) = delete;
  auto operator=(merged_source const&) -> merged_source& = delete;

 private:
  AGONES_ALLOC_DECL void do_list(list_handler) override;
  AGONES_ALLOC_DECL void do_watch(std::string, watch_handler) override;

  std::shared_ptr<detail::merged_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/merged_source.ipp>
#endif
