#pragma once

#include <agones_alloc/beast/fleets/fleet_stream.hpp>
#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/information_front_end.hpp>
#include <agones_alloc/grpc/information_messages.hpp>
#include <agones_alloc/impl/grpc/allocation_front_end.ipp>
#include <agones_alloc/impl/grpc/information_messages.ipp>

#include <agones_alloc_proto/information.pb.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Each event a message after its size, as a grpc_listener takes it.
class inform_event_form final : public fleet_event_form {
 public:
  auto beginning() -> std::string override { return {}; }
  void append(std::string& out, fleet_event const& event, std::string const& token, fleet_info_parts parts) override {
    ::information::InformEvent message;
    message.set_kind(kind_of(event.what));
    message.set_resumetoken(token);
    if (event.fleet != nullptr && event.what == fleet_event_kind::deleted) {
      auto& key = *message.mutable_fleet();
      key.set_clustername(event.fleet->cluster.str());
      key.set_namespace_(event.fleet->namespace_.str());
      key.set_fleetname(event.fleet->name.str());
    } else if (event.fleet != nullptr) {
      fleet_to_message(*event.fleet, parts, *message.mutable_fleet());
    } else if (event.cluster != nullptr) {
      cluster_to_message(*event.cluster, *message.mutable_cluster());
    }
    append_framed(out, message);
  }
  void append_heartbeat(std::string& out, timer::wall_time now) override {
    ::information::InformEvent message;
    message.set_kind(::information::InformEvent::HEARTBEAT);
    detail::message::write_time(now, *message.mutable_servertime());
    append_framed(out, message);
  }

 private:
  static auto kind_of(fleet_event_kind what) noexcept -> ::information::InformEvent::Kind {
    using event = ::information::InformEvent;
    switch (what) {
      case fleet_event_kind::reset: return event::RESET;
      case fleet_event_kind::snapshot_item: return event::SNAPSHOT_ITEM;
      case fleet_event_kind::synced: return event::SYNCED;
      case fleet_event_kind::added: return event::ADDED;
      case fleet_event_kind::modified: return event::MODIFIED;
      case fleet_event_kind::deleted: return event::DELETED;
      case fleet_event_kind::cluster_status: return event::CLUSTER_STATUS;
      case fleet_event_kind::cluster_gone: return event::CLUSTER_REMOVED;
    }
    return event::UNSPECIFIED;
  }
  static void append_framed(std::string& out, ::information::InformEvent const& message) {
    auto const size = message.ByteSizeLong();
    for (int shift : {24, 16, 8, 0}) out += static_cast<char>(size >> shift & 0xffU);
    message.AppendToString(&out);
  }
};

struct inform_call {
  fleet_query query;
  bool together;
};

inline auto read_inform_call(http_request const& request) -> std::variant<inform_call, std::string> {
  ::information::InformRequest message;
  if (!parse_message(request.body, message)) return std::string{"the message is no information.InformRequest"};
  auto query = query_of_message(message);
  if (auto* const problem = std::get_if<std::string>(&query)) return std::move(*problem);
  return inform_call{std::move(*std::get_if<fleet_query>(&query)), message.together()};
}

/// Makes the messages of a piece one: the first, with the others in its `more`. What many streams are told is made once.
class inform_gatherer {
 public:
  auto together(http_body_stream::piece const& from) -> http_body_stream::piece {
    static constexpr std::size_t most_bytes = 1U << 20U;  // clients take 4 MiB
    auto const first = framed_size(*from, 0);
    if (from->size() > most_bytes || first + 4 == from->size()) return from;
    if (from == from_) return made_;
    static constexpr char tag = ::information::InformEvent::kMoreFieldNumber << 3 | 2;  // a message, after its length
    std::string out(4, '\0');
    out.append(*from, 4, first);
    for (std::size_t at = first + 4; at < from->size();) {
      auto const size = framed_size(*from, at);
      out += tag;
      auto rest = size;
      for (; rest >= 0x80; rest >>= 7U) out += static_cast<char>((rest & 0x7fU) | 0x80U);
      out += static_cast<char>(rest);
      out.append(*from, at + 4, size);
      at += size + 4;
    }
    auto const size = out.size() - 4;
    for (std::size_t i = 0; i != 4; ++i) out[i] = static_cast<char>(size >> (24 - 8 * i) & 0xffU);
    from_ = from;
    return made_ = std::make_shared<std::string const>(std::move(out));
  }

 private:
  static auto framed_size(std::string const& text, std::size_t at) -> std::size_t {
    std::size_t out = 0;
    for (std::size_t i = 0; i != 4; ++i) out = out << 8U | static_cast<unsigned char>(text[at + i]);
    return out;
  }
  http_body_stream::piece from_;
  http_body_stream::piece made_;
};

class gathered_stream final : public http_body_stream {
 public:
  gathered_stream(std::shared_ptr<http_body_stream> of, std::shared_ptr<inform_gatherer> by) : of_{std::move(of)}, by_{std::move(by)} {}
  void next(std::function<void(piece)> then) override {
    of_->next([by = by_, then = std::move(then)](piece one) { then(one == nullptr ? nullptr : by->together(one)); });
  }
  void stop() override { of_->stop(); }

 private:
  std::shared_ptr<http_body_stream> of_;
  std::shared_ptr<inform_gatherer> by_;
};

}  // namespace detail

AGONES_ALLOC_DECL information_front_end::information_front_end(fleet_directory& directory, timer& time, front_end_options options,
                                                               fleets_options bounds)
    : directory_{&directory},
      options_{std::move(options)},
      streams_{std::make_shared<detail::fleet_streams>(directory, time, checked(bounds),
                                                       std::make_shared<detail::inform_event_form>())},
      gatherer_{std::make_shared<detail::inform_gatherer>()} {}

AGONES_ALLOC_DECL information_front_end::~information_front_end() { streams_->stop(); }

AGONES_ALLOC_DECL auto information_front_end::counts() const noexcept -> fleet_stream_counts { return streams_->counts(); }

AGONES_ALLOC_DECL void information_front_end::handle(http_request const& request, reply done) {
  std::move(done)(answer(request));
}

AGONES_ALLOC_DECL auto information_front_end::answer(http_request const& request) -> http_response {
  if (request.path != inform_path && request.path != watch_path) return grpc_failure(grpc_code::unimplemented, "unknown method");
  auto read = detail::read_inform_call(request);
  if (auto* const problem = std::get_if<std::string>(&read)) return grpc_failure(grpc_code::invalid_argument, std::move(*problem));
  auto& [query, together] = *std::get_if<detail::inform_call>(&read);
  if (auto refusal = admit_fleet_query(query, request, options_)) {
    auto const code = refusal->status == 403   ? grpc_code::permission_denied
                      : refusal->status == 400 ? grpc_code::invalid_argument
                                               : grpc_code::failed_precondition;
    return grpc_failure(code, std::move(refusal->message));
  }
  http_response out;
  out.route = "grpc";
  if (request.path == watch_path) {
    out.stream = streams_->open(std::move(query), request);
    if (out.stream == nullptr) return grpc_failure(grpc_code::unavailable, "too many streams are open");
    if (together) out.stream = std::make_shared<detail::gathered_stream>(std::move(out.stream), gatherer_);
    return out;
  }
  auto const page = directory_->snapshot(query.filter);
  ::information::InformResponse message;
  for (auto const& fleet : page.fleets) fleet_to_message(*fleet, query.parts, *message.add_fleetinformation());
  for (auto const& cluster : page.clusters) cluster_to_message(*cluster, *message.add_clusters());
  message.set_resumetoken(directory_->token_of(page.revision));
  message.SerializeToString(&out.body);
  return out;
}

AGONES_ALLOC_DECL auto information_namespace_of(http_request const& request) -> std::optional<std::string> {
  if (request.path != information_front_end::inform_path && request.path != information_front_end::watch_path) return std::nullopt;
  auto const call = detail::read_inform_call(request);
  if (auto const* const found = std::get_if<detail::inform_call>(&call)) return found->query.filter.namespace_;
  return std::string{};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
