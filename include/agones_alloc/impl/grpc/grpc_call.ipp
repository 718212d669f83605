#pragma once

#include <agones_alloc/async/detail/allocated_simply.hpp>
#include <agones_alloc/beast/tls/server_context.hpp>
#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/impl/grpc/grpc_call.hpp>
#include <agones_alloc/json/api_failure.hpp>
#include <agones_alloc/json/grpc_code.hpp>

#include <grpcpp/security/auth_context.h>
#include <grpcpp/server_context.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto lowered(char c) noexcept -> char { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline auto lowered(std::string_view text) -> std::string {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lowered(c); });
  return out;
}

/// `ipv4:10.0.0.1:80`, `ipv6:[::1]:80`, with or without percent signs: the address.
inline auto address_of_peer(std::string_view peer) -> std::string {
  if (!peer.starts_with("ipv4:") && !peer.starts_with("ipv6:")) return {};
  peer.remove_prefix(5);
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.starts_with("%5B") && peer.ends_with("%5D")) return std::string{peer.substr(3, peer.size() - 6)};
  if (peer.starts_with('[') && peer.ends_with(']')) return std::string{peer.substr(1, peer.size() - 2)};
  return std::string{peer};
}

/// At most eight digits and a unit, as gRPC writes it.
inline auto timeout_text(std::chrono::nanoseconds left) -> std::string {
  static constexpr std::int64_t most = 99'999'999;
  auto const us = std::chrono::duration_cast<std::chrono::microseconds>(std::max(left, std::chrono::nanoseconds{0})).count();
  if (us <= most) return std::to_string(us) + "u";
  if (us / 1000 <= most) return std::to_string(us / 1000) + "m";
  return std::to_string(std::min(us / 1'000'000, most)) + "S";
}

inline auto call_request::header(std::string_view name) const -> std::string {
  std::string out;
  for (auto const& [key, value] : fields) {
    if (!std::equal(key.begin(), key.end(), name.begin(), name.end(), [](char a, char b) { return a == lowered(b); })) continue;
    if (!out.empty()) out += ", ";
    out += value;
  }
  return out;
}

// The executor is asked once for all that come until it is there: each request wakes it, and is a block of memory between threads.
inline auto grpc_calls::enter(std::shared_ptr<grpc_call> one) -> std::string {
  bool first = false;
  {
    std::lock_guard const lock{mutex_};
    if (closed_) return "the server is stopping";
    if (open_.size() >= most) return "the server has too many calls open";
    open_.push_back(*one);
    one->kept_ = one;
    first = arrived_.empty();
    arrived_.push_back(std::move(one));
  }
  if (first) boost::asio::post(executor, [self = shared_from_this()] { self->begin_arrived(); });
  return {};
}

inline void grpc_calls::begin_arrived() {
  static constexpr std::size_t most_at_once = 64;  // others want to do something, too
  std::array<std::shared_ptr<grpc_call>, most_at_once> now;
  std::size_t count = 0;
  bool more = false;
  {
    std::lock_guard const lock{mutex_};
    for (; count != now.size() && !arrived_.empty(); ++count) {
      now[count] = std::move(arrived_.front());
      arrived_.pop_front();
    }
    more = !arrived_.empty();
  }
  if (more) boost::asio::post(executor, [self = shared_from_this()] { self->begin_arrived(); });
  for (std::size_t i = 0; i != count; ++i) now[i]->begin();
}

inline void grpc_calls::leave(grpc_call* one) {
  std::shared_ptr<grpc_call> last;  // not destroyed under the lock
  bool none = false;
  {
    std::lock_guard const lock{mutex_};
    if (one->kept_) open_.erase(open_.iterator_to(*one));
    last = std::move(one->kept_);
    none = open_.empty();
  }
  if (none && emptied) boost::asio::post(executor, std::exchange(emptied, nullptr));
}

inline auto grpc_calls::open() -> std::vector<std::shared_ptr<grpc_call>> {
  std::vector<std::shared_ptr<grpc_call>> out;
  std::lock_guard const lock{mutex_};
  for (auto const& one : open_) out.push_back(one.kept_);
  return out;
}

inline auto grpc_calls::count() const -> std::size_t {
  std::lock_guard const lock{mutex_};
  return open_.size();
}

inline void grpc_calls::forget_arrived() {
  std::deque<std::shared_ptr<grpc_call>> gone;  // not destroyed under the lock
  std::lock_guard const lock{mutex_};
  gone.swap(arrived_);
}

inline void grpc_calls::close() {
  std::lock_guard const lock{mutex_};
  closed_ = true;
}

// A client shows the same certificate with every call of a connection.
inline auto grpc_calls::certificate_of(std::string const& pem) -> std::shared_ptr<client_certificate const> {
  if (auto const at = certificates_.find(pem); at != certificates_.end()) return at->second;
  auto names = read_client_certificate(pem);
  if (!names) return nullptr;
  names->by_client_authority = true;  // gRPC has verified it, and knows no other authorities
  if (certificates_.size() >= 256) certificates_.clear();
  return certificates_.emplace(pem, std::make_shared<client_certificate const>(*std::move(names))).first->second;
}

inline grpc_call::grpc_call(std::shared_ptr<grpc_calls> shared, ::grpc::CallbackServerContext& context, std::string_view path,
                            ::grpc::ByteBuffer const& message)
    : all_{std::move(shared)}, context_{&context}, whole_{message.Valid()}, deadline_{context.deadline()} {
  request_.path = path;
  request_.peer_text = address_of_peer(context.peer());
  request_.peer = request_.peer_text;
  auto const& metadata = context.client_metadata();
  request_.fields.reserve(metadata.size() + 1);
  for (auto const& [key, value] : metadata) {
    request_.fields.emplace_back(std::string{key.data(), key.size()}, std::string{value.data(), value.size()});
  }
  if (message.TrySingleSlice(&request_.bytes).ok()) {
    request_.body = {reinterpret_cast<char const*>(request_.bytes.begin()), request_.bytes.size()};
  } else if (std::vector<::grpc::Slice> pieces; message.Dump(&pieces).ok()) {
    for (auto const& one : pieces) request_.joined.append(reinterpret_cast<char const*>(one.begin()), one.size());
    request_.body = request_.joined;
  }
  if (!all_->secured) return;
  auto const who = context.auth_context();
  if (who == nullptr) return;
  auto const shown = who->FindPropertyValues("x509_pem_cert");
  if (!shown.empty()) certificate_text_.assign(shown.front().data(), shown.front().size());
}

inline void grpc_call::enter() {
  if (!whole_) {
    ended_ = true;
    return end({::grpc::StatusCode::INVALID_ARGUMENT, "there is no message, or half of one"});
  }
  began_ = all_->time->now();
  if (auto const refusal = all_->enter(shared_from_this()); !refusal.empty()) {
    ended_ = true;
    context_->AddTrailingMetadata("retry-after", "1");  // tells a forwarder that nothing was done
    return end({::grpc::StatusCode::UNAVAILABLE, refusal});
  }
}

inline void grpc_call::left() {
  boost::asio::post(all_->executor, [self = shared_from_this()] {
    if (self->ended_) return;
    bool const over = self->abandoned();
    self->cancel();
    if (over) self->finish({::grpc::StatusCode::CANCELLED, "the client has left"}, 499);
  });
}

inline void grpc_call::add_timeout() {
  if (deadline_ == std::chrono::system_clock::time_point::max()) return;
  request_.fields.emplace_back("grpc-timeout", timeout_text(deadline_ - all_->time->wall_now()));
}

inline void grpc_call::begin() {
  if (ended_) return;
  std::erase_if(request_.fields, [](auto const& field) { return field.first == "grpc-timeout"; });
  add_timeout();
  if (!certificate_text_.empty()) request_.certificate = all_->certificate_of(certificate_text_);
  request_.client = request_.certificate.get();
  all_->handler->handle(request_, http_handler::reply{boost::asio::bind_cancellation_slot(
                                      leaving_.slot(), boost::asio::bind_executor(
                                                           all_->executor,
                                                           allocated_simply([self = shared_from_this()](http_response response) {
                                                             if (!self->ended_) self->answer(std::move(response));
                                                           })))});
}

inline void grpc_call::cut(::grpc::Status const& status) {
  if (ended_) return;
  abandoned();
  finish(status, 503);
  cancel();
}

// Once: a handler need not expect more.
inline void grpc_call::cancel() {
  if (!std::exchange(cancelled_, true)) leaving_.emit(boost::asio::cancellation_type::terminal);
}

inline void grpc_call::finish(::grpc::Status const& status, int http_status) {
  if (std::exchange(ended_, true)) return;
  auto const self = shared_from_this();
  all_->leave(this);
  if (all_->observer != nullptr) all_->observer->request("grpc", "POST", http_status, all_->time->now() - began_);
  end(status);
}

inline void grpc_call::add_trailers(http_response const& response) {
  static constexpr std::size_t most_bytes = 1024;
  for (auto const& [name, value] : response.headers) {
    // The breakdown is among the details; what begins with "grpc-" is the status.
    auto key = lowered(name);
    if (key.starts_with("grpc-") || key == "agones-alloc-breakdown" || key == "agones-alloc-attempts" || key == "www-authenticate") continue;
    auto const fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'; };
    if (key.empty() || value.size() > most_bytes || !std::all_of(key.begin(), key.end(), fits)) continue;
    std::string text = value;
    std::replace_if(text.begin(), text.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    context_->AddTrailingMetadata(key, text);
  }
}

inline auto status_of(http_response const& response) -> ::grpc::Status {
  // Clients take 8 KiB of metadata, where this may be written with three bytes for one.
  static constexpr std::size_t most_bytes = 1024;
  std::optional<int> code;
  std::string message;
  std::string details;
  for (auto const& [name, value] : response.headers) {
    if (name == grpc_status_field) {
      int number = 2;
      std::from_chars(value.data(), value.data() + value.size(), number);
      code = number;
    } else if (name == grpc_message_field) {
      message = value;
    } else if (name == grpc_details_field) {
      details = value;
    }
  }
  if (!code && response.status == 200) return ::grpc::Status::OK;
  if (!code) {
    // Somebody before the front end has answered.
    auto const failure = api_failure_of(response.status, response.body);
    code = static_cast<int>(response.status == 409 ? grpc_code::aborted : unallocated_code_for(response.status).code);
    message = failure.message;
  }
  if (message.size() > most_bytes) message = message.substr(0, most_bytes - 3) + "...";
  return {static_cast<::grpc::StatusCode>(*code), message, details};
}

inline auto unary_call::reactor() -> ::grpc::ServerUnaryReactor* {
  for_grpc_ = shared_from_this();
  enter();
  return this;  // whatever has been told: gRPC is not done with it before it has it
}

inline void unary_call::answer(http_response response) {
  auto const status = status_of(response);
  if (response.stream) response.stream->stop();
  if (status.ok()) {
    ::grpc::Slice const bytes{response.body.data(), response.body.size()};
    ::grpc::ByteBuffer made{&bytes, 1};
    out_->Swap(&made);  // what is assigned is copied
  }
  add_trailers(response);
  finish(status, response.status);
}

inline void unary_call::end(::grpc::Status const& status) { Finish(status); }

/// Of the leading metadata: nothing else tells a stream without events from a refusal.
inline constexpr char const* stream_field = "agones-alloc-stream";

/// One write at a time; an end that comes while one is under way waits for it. The messages of a piece follow one another without the
/// loop, which hears when gRPC has taken the last of them.
class stream_call::link final : public ::grpc::ServerWriteReactor<::grpc::ByteBuffer> {
 public:
  explicit link(std::shared_ptr<stream_call> of) : of_{std::move(of)} {}
  void OnCancel() override { of_->left(); }
  void OnDone() override { delete this; }

  /// So that the client knows before there is anything to say. Once, before the first write.
  void begin() { StartSendInitialMetadata(); }
  void write(http_body_stream::piece piece) {
    {
      std::lock_guard const lock{mutex_};
      writing_ = true;
      piece_ = std::move(piece);
      at_ = 0;
    }
    write_next();
  }
  /// False: it ends once the client has read what is under way.
  auto end(::grpc::Status const& status) -> bool {
    {
      std::lock_guard const lock{mutex_};
      if (writing_) {
        status_ = status;
        return false;
      }
    }
    Finish(status);
    return true;
  }

 private:
  // While `writing_`, whoever has begun a piece or heard of a message's end is alone with it; nothing may follow StartWrite.
  void write_next() {
    std::size_t size = 0;
    for (int i = 0; i < 4; ++i) size = size << 8U | static_cast<unsigned char>((*piece_)[at_++]);
    // Shared with other streams, not copied.
    auto* const kept = new http_body_stream::piece{piece_};
    ::grpc::Slice const bytes{const_cast<char*>(piece_->data()) + at_, size,
                              [](void* one) { delete static_cast<http_body_stream::piece*>(one); }, kept};
    at_ += size;
    ::grpc::ByteBuffer made{&bytes, 1};
    message_.Swap(&made);
    ::grpc::WriteOptions how;
    // Sent with those that follow at once. Not the first: gRPC would keep the metadata of the answer back with it, and wait for them.
    if (std::exchange(begun_, true) && at_ < piece_->size()) how.set_buffer_hint();
    StartWrite(&message_, how);
  }
  void OnWriteDone(bool ok) override {
    std::optional<::grpc::Status> status;
    bool more = false;
    {
      std::lock_guard const lock{mutex_};
      more = ok && !status_ && at_ < piece_->size();
      if (!more) {
        writing_ = false;
        piece_ = nullptr;
        status.swap(status_);
      }
    }
    if (more) return write_next();
    if (status) return Finish(*status);
    boost::asio::post(of_->all().executor, [of = of_, ok] {
      if (of->ended()) return;
      if (ok) return of->go_on();
      of->abandoned();
      of->finish({::grpc::StatusCode::CANCELLED, "the client has left"}, 499);
    });
  }

  std::shared_ptr<stream_call> of_;
  std::mutex mutex_;
  bool writing_{false};
  bool begun_{false};
  std::optional<::grpc::Status> status_;
  http_body_stream::piece piece_;
  std::size_t at_{0};  ///< in the piece
  ::grpc::ByteBuffer message_;
};

inline auto stream_call::reactor() -> ::grpc::ServerWriteReactor<::grpc::ByteBuffer>* {
  link_ = new link{std::static_pointer_cast<stream_call>(shared_from_this())};
  auto* const out = link_;
  enter();
  return out;
}

inline void stream_call::answer(http_response response) {
  auto status = status_of(response);
  if (cancelled()) {
    if (response.stream) response.stream->stop();
    return finish({::grpc::StatusCode::CANCELLED, "the client has left"}, 499);
  }
  add_trailers(response);
  if (!response.stream) {
    if (status.ok()) status = {::grpc::StatusCode::INTERNAL, "there is no stream"};
    return finish(status, response.status);
  }
  stream_ = std::move(response.stream);
  context().AddInitialMetadata(stream_field, "open");
  link_->begin();
  go_on();
}

inline auto stream_call::abandoned() -> bool {
  if (!stream_) return false;
  std::exchange(stream_, nullptr)->stop();
  return true;
}

// An end must not wait for a client that reads nothing.
inline void stream_call::end(::grpc::Status const& status) {
  auto& of = context();
  if (!link_->end(status) && !cancelled()) of.TryCancel();  // where the client has left the write ends by itself
}

inline void stream_call::go_on() {
  auto const stream = stream_;
  if (stream == nullptr) return;
  stream->next([weak = weak_from_this()](http_body_stream::piece piece) {
    if (auto const self = std::static_pointer_cast<stream_call>(weak.lock())) self->take(std::move(piece));
  });
}

inline void stream_call::take(http_body_stream::piece piece) {
  if (ended()) return;
  if (piece == nullptr) {
    abandoned();
    return finish({::grpc::StatusCode::UNAVAILABLE, "the stream is over: come again with the token of its last event"}, 200);
  }
  link_->write(std::move(piece));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
