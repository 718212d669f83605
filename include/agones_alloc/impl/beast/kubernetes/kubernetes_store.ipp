#pragma once

#include <agones_alloc/beast/kubernetes/answer_meaning.hpp>
#include <agones_alloc/beast/kubernetes/api_path.hpp>
#include <agones_alloc/beast/kubernetes/detail/adapted_handler.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_store.hpp>
#include <agones_alloc/json/merge_patch.hpp>
#include <agones_alloc/json/object_reader.hpp>
#include <agones_alloc/json/read_game_server.hpp>

#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr api_resource game_servers{"agones.dev/v1", "gameservers"};

/// Null where the text is no game server.
inline auto game_server_from(std::string_view text, kubernetes_store_options const& options) -> game_server_ptr {
  object_reader reader{{.max_bytes = options.object_bytes, .keep_spec = options.keep_spec}};
  auto const document = reader.next(text);
  if (!document || *document == nullptr) return nullptr;
  auto server = read_game_server(**document, {.check_quantities = false});
  if (!server || server->meta.name.empty() || server->meta.resource_version.empty()) return nullptr;
  return std::make_shared<game_server const>(*std::move(server));
}

inline auto failure_result(client_response const& answer, api_failure failure) -> store_result {
  store_result out;
  out.server_message = std::move(failure.message);
  out.server_code = answer.status;
  out.retry_after = answer.retry_after.value_or(failure.retry_after);
  return out;
}

inline auto write_result(client_response const& answer, kubernetes_store_options const& options)
    -> std::pair<error_code, store_result> {
  if (answer.status == 200) {
    store_result out;
    out.server_code = answer.status;
    out.server = game_server_from(answer.body, options);
    if (out.server == nullptr) out.server_message = "the API server's answer is no GameServer";
    return {out.server == nullptr ? error_code{errc::outcome_unknown} : error_code{}, std::move(out)};
  }
  auto failure = api_failure_of(answer.status, answer.body);
  auto const ec = judge_write_answer(failure, answer.retry_after.has_value());
  return {ec, failure_result(answer, std::move(failure))};
}

inline auto read_result(client_response const& answer, kubernetes_store_options const& options)
    -> std::pair<error_code, store_result> {
  if (answer.status == 200) {
    store_result out;
    out.server_code = answer.status;
    out.server = game_server_from(answer.body, options);
    if (out.server == nullptr) out.server_message = "the API server's answer is no GameServer";
    return {out.server == nullptr ? error_code{errc::malformed} : error_code{}, std::move(out)};
  }
  auto failure = api_failure_of(answer.status, answer.body);
  auto const ec = judge_read_answer(failure);
  return {ec, failure_result(answer, std::move(failure))};
}

/// Nothing, or half an answer: its status may be known.
inline auto no_result(response_head const& head) -> store_result {
  store_result out;
  out.server_code = head.status;
  return out;
}

/// A caller's time that is up before its write was sent is no fault of the write: another try may be made in time.
inline auto unsent(error_code ec) noexcept -> error_code {
  return ec == errc::deadline_exceeded ? error_code{errc::unavailable} : ec;
}

}  // namespace detail

AGONES_ALLOC_DECL kubernetes_store::kubernetes_store(http_client& client, kubernetes_store_options options)
    : client_{client}, options_{std::make_shared<kubernetes_store_options const>(std::move(options))} {}

AGONES_ALLOC_DECL void kubernetes_store::do_update(update_request update, handler done) {
  client_request request;
  request.method = "PATCH";
  auto const& meta = update.base->meta;
  request.target = object_path(detail::game_servers, meta.namespace_.view(), meta.name.view());
  if (!options_->field_manager.empty()) add_query(request.target, "fieldManager", options_->field_manager);
  request.content_type = "application/merge-patch+json";
  request.headers.emplace_back("Accept", "application/json");
  append_merge_patch(request.body, *update.base, *update.desired);
  request.deadline = update.deadline;
  request.body_limit = options_->object_bytes;
  auto judge = [options = options_](error_code ec, client_response const& answer) {
    if (!ec) return detail::write_result(answer, *options);
    return std::pair{detail::unsent(ec), detail::no_result(answer)};
  };
  client_.async_request(std::move(request), detail::adapted(std::move(done), std::move(judge)));
}

AGONES_ALLOC_DECL void kubernetes_store::do_read(object_key key, handler done) {
  client_request request;
  request.target = object_path(detail::game_servers, key.namespace_.view(), key.name.view());
  request.headers.emplace_back("Accept", "application/json");
  request.body_limit = options_->object_bytes;
  auto judge = [options = options_](error_code ec, client_response const& answer) {
    if (!ec) return detail::read_result(answer, *options);
    return std::pair{ec, detail::no_result(answer)};
  };
  client_.async_request(std::move(request), detail::adapted(std::move(done), std::move(judge)));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
