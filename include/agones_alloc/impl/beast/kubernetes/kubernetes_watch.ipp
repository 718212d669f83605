#pragma once

#include <agones_alloc/beast/kubernetes/detail/feed_context.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_watch.hpp>

#include <algorithm>
#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void check(kubernetes_watch_options const& options) {
  auto const refuse = [](char const* field, char const* what) {
    throw std::invalid_argument{std::string{"kubernetes_watch_options."} + field + ": " + what};
  };
  if (options.page == 0) refuse("page", "must be at least 1");
  if (options.page_bytes < 1024) refuse("page_bytes", "must be at least 1024");
  if (options.object_bytes < 1024) refuse("object_bytes", "must be at least 1024");
  if (options.watch_time < std::chrono::seconds{1}) refuse("watch_time", "must be at least 1 s");
  if (options.silence < std::chrono::seconds{1}) refuse("silence", "must be at least 1 s");
  if (options.longest_pause < std::chrono::nanoseconds::zero()) refuse("longest_pause", "must not be negative");
}

namespace detail {

AGONES_ALLOC_DECL feed_context::feed_context(boost::asio::any_io_executor executor, http_client& c, timer& t,
                                             api_resource resource, kubernetes_watch_options const& o)
    : strand{boost::asio::make_strand(std::move(executor))}, own{boost::asio::any_io_executor{strand}}, client{c},
      time{t}, options{std::make_unique<kubernetes_watch_options const>(o)},
      path_{collection_path(resource, o.ns)}, plural_{resource.plural} {}

AGONES_ALLOC_DECL feed_context::~feed_context() = default;

AGONES_ALLOC_DECL auto feed_context::list_request(std::size_t page, std::string_view token) const -> client_request {
  client_request out;
  out.target = path_;
  add_query(out.target, "limit", std::to_string(page));
  if (!options->label_selector.empty()) add_query(out.target, "labelSelector", options->label_selector);
  if (!token.empty()) add_query(out.target, "continue", token);
  out.headers.emplace_back("Accept", "application/json");
  out.body_limit = options->page_bytes;
  return out;
}

AGONES_ALLOC_DECL auto feed_context::streamed_list_request() const -> client_request {
  client_request out;
  out.target = path_;
  add_query(out.target, "watch", "true");
  add_query(out.target, "sendInitialEvents", "true");
  add_query(out.target, "resourceVersionMatch", "NotOlderThan");
  add_query(out.target, "allowWatchBookmarks", "true");
  if (!options->label_selector.empty()) add_query(out.target, "labelSelector", options->label_selector);
  out.headers.emplace_back("Accept", "application/json");
  out.silence = options->silence;
  return out;
}

AGONES_ALLOC_DECL auto feed_context::watch_request(std::string_view version) const -> client_request {
  client_request out;
  out.target = path_;
  add_query(out.target, "watch", "true");
  add_query(out.target, "allowWatchBookmarks", "true");
  if (!options->label_selector.empty()) add_query(out.target, "labelSelector", options->label_selector);
  add_query(out.target, "resourceVersion", version);
  add_query(out.target, "timeoutSeconds", std::to_string(options->watch_time.count()));
  out.headers.emplace_back("Accept", "application/json");
  out.silence = options->silence;
  return out;
}

AGONES_ALLOC_DECL auto feed_context::reader_options(object_place place) const -> object_reader_options {
  object_reader_options out;
  out.place = place;
  out.max_bytes = place == object_place::list ? options->page_bytes : options->object_bytes;
  out.keep_spec = options->keep_spec;
  return out;
}

AGONES_ALLOC_DECL auto feed_context::pause_end(response_head const& head, api_failure const& failure) const
    -> timer::time_point {
  std::chrono::nanoseconds const asked = head.retry_after.value_or(failure.retry_after);
  return time.now() + std::min(asked, options->longest_pause);
}

AGONES_ALLOC_DECL void feed_context::note_failure(char const* doing, api_failure const& failure) const {
  if (options->log == nullptr) return;
  auto const code = std::to_string(failure.code);
  options->log->log(severity::warning, std::string{doing} + ' ' + plural_ + " was refused",
                    {{"code", code}, {"reason", failure.reason}, {"message", failure.message}});
}

AGONES_ALLOC_DECL void feed_context::note_failure(char const* doing, decode_error const& error) const {
  if (options->log == nullptr) return;
  options->log->log(severity::error, std::string{doing} + ' ' + plural_ + ": the answer cannot be read",
                    {{"error", to_string(error)}});
}

AGONES_ALLOC_DECL void feed_context::note_undecodable(object_meta const& about, decode_error const& error) const {
  if (options->log == nullptr) return;
  auto const key = to_string(key_of(about));
  options->log->log(severity::error, "an object cannot be read, and counts as absent",
                    {{"resource", plural_}, {"key", key}, {"error", to_string(error)}});
}

}  // namespace detail

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
