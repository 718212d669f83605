#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/kept_connections.hpp>
#include <agones_alloc/async/socket_probe.hpp>
#include <agones_alloc/flow/answer_rest.hpp>
#include <agones_alloc/flow/ready_events.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// What the beginning of an answer says: nullopt, that there must be more of it.
inline auto read_status_line(std::string_view text, bool end) noexcept -> std::optional<probe_answer> {
  static constexpr std::string_view shape = "HTTP/1.0 000";
  auto const line = text.substr(0, text.find('\n'));
  if (line.size() < shape.size()) {
    bool const more = line.size() == text.size() && !end && text.size() < socket_probe::most_bytes;
    return more ? std::nullopt : std::optional{probe_answer::pending};
  }
  auto const digit = [&](std::size_t at) { return line[at] >= '0' && line[at] <= '9'; };
  bool const http = line.starts_with("HTTP/1.") && digit(7) && line[8] == ' ' && digit(9) && digit(10) && digit(11) &&
                    (line.size() == shape.size() || line[12] == ' ' || line[12] == '\r');
  if (!http) return probe_answer::pending;
  auto const code = line.substr(9, 3);
  if (code == "200") return probe_answer::ready;
  return code[0] == '4' ? probe_answer::failed : probe_answer::pending;
}

class probe_try : public std::enable_shared_from_this<probe_try> {
 public:
  using tcp = boost::asio::ip::tcp;

  probe_try(boost::asio::any_io_executor const& strand, boost::asio::any_completion_executor const& own, std::shared_ptr<kept_connections> kept,
            probe_target target, readiness_probe::handler done)
      : strand_{strand},
        own_{own},
        kept_{std::move(kept)},
        socket_{strand_},
        alarm_{strand_, target.deadline},
        target_{std::move(target)},
        done_{std::move(done)} {
    if (is_stream()) events_.emplace(target_.id);
  }

  void start() {
    auto slot = boost::asio::get_associated_cancellation_slot(done_);
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this()](boost::asio::cancellation_type type) {
        auto const self = weak.lock();
        if (type == boost::asio::cancellation_type::none || !self) return;
        boost::asio::post(self->strand_, [self] { self->end(probe_answer::pending); });
      });
    }
    boost::asio::post(strand_, [self = shared_from_this()] {
      if (self->ended_) return;
      self->wait();
      self->begin();
    });
  }

 private:
  auto is_stream() const noexcept -> bool { return target_.how == probe_target::protocol::event_stream; }
  auto may_keep() const noexcept -> bool {
    return target_.how == probe_target::protocol::http && !target_.id.empty() && target_.until != std::chrono::steady_clock::time_point{};
  }

  void wait() {
    alarm_.async_wait([self = shared_from_this()](error_code ec) {
      if (!ec) self->end(probe_answer::pending);
    });
  }

  void begin() {
    if (may_keep()) {
      if (auto kept = kept_->take(target_)) {
        socket_ = *std::move(kept);
        reused_ = true;
        return send();
      }
    }
    connect();
  }

  // The other side has closed the kept one meanwhile, as it may: that says nothing about the game.
  void begin_anew() {
    reused_ = false;
    error_code ignored;
    socket_.close(ignored);
    connect();
  }

  void connect() {
    error_code fault;
    auto const address = boost::asio::ip::make_address(target_.address, fault);
    if (!fault) {
      return socket_.async_connect({address, target_.port}, [self = shared_from_this()](error_code ec) { self->connected(ec); });
    }
    resolver_.emplace(strand_).async_resolve(target_.address, std::to_string(target_.port), tcp::resolver::numeric_service,
                            [self = shared_from_this()](error_code ec, tcp::resolver::results_type const& found) {
                              if (ec || self->ended_) return self->end(probe_answer::pending);
                              boost::asio::async_connect(self->socket_, found, [self](error_code e, tcp::endpoint const&) { self->connected(e); });
                            });
  }

  void connected(error_code ec) {
    constexpr std::size_t some = 16;  // others want descriptors, too
    bool const no_room = ec == boost::asio::error::no_descriptors || ec == boost::system::errc::too_many_files_open_in_system;
    if (no_room && !ended_ && !std::exchange(made_room_, true) && kept_->drop_oldest(some)) return begin_anew();
    if (ec || ended_) return end(probe_answer::pending);
    if (target_.how == probe_target::protocol::tcp) return end(probe_answer::ready);
    send();
  }

  void send() {
    bool const v6 = target_.address.find(':') != std::string::npos;
    request_ = "GET " + target_.path + (is_stream() ? " HTTP/1.0" : " HTTP/1.1") + "\r\nHost: " +
               (v6 ? "[" + target_.address + "]" : target_.address) + ":" + std::to_string(target_.port) +
               "\r\nUser-Agent: agones-alloc\r\nAccept: " + (is_stream() ? "text/event-stream" : "*/*") +
               (may_keep() ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n");
    boost::asio::async_write(socket_, boost::asio::buffer(request_), [self = shared_from_this()](error_code e, std::size_t) {
      if (self->ended_) return;
      if (e) return self->reused_ ? self->begin_anew() : self->end(probe_answer::pending);
      self->is_stream() ? self->read_events() : self->read();
    });
  }

  // A game may be silent for as long as it wants, once the stream is open.
  void read_events() {
    socket_.async_read_some(boost::asio::buffer(bytes_), [self = shared_from_this()](error_code ec, std::size_t count) {
      bool const was_open = self->events_->is_open();
      auto const answer = self->events_->take({self->bytes_.data(), count});
      if (answer || ec) return self->end(answer.value_or(probe_answer::pending));
      if (self->ended_) return;
      if (!was_open && self->events_->is_open()) {
        self->alarm_.expires_at(self->target_.until);
        self->wait();
      }
      self->read_events();
    });
  }

  void read() {
    socket_.async_read_some(boost::asio::buffer(bytes_.data() + size_, bytes_.size() - size_),
                            [self = shared_from_this()](error_code ec, std::size_t count) { self->have_read(ec, count); });
  }

  void have_read(error_code ec, std::size_t count) {
    if (ended_) return;
    size_ += count;
    if (ec && reused_ && size_ == 0) return begin_anew();
    std::string_view const text{bytes_.data(), size_};
    auto const said = read_status_line(text, static_cast<bool>(ec));
    if (!said) return read();
    // Who is ready is not asked again, as a rule.
    bool const keeps = !ec && may_keep() && *said != probe_answer::ready;
    switch (keeps ? rest_of_answer(text, bytes_.size()) : answer_rest::open) {
      case answer_rest::whole: kept_->keep(target_, std::move(socket_)); return end(*said);
      case answer_rest::more:
        tell(*said);  // whoever waits needs no more of it
        return read();
      case answer_rest::open:
        if (!ec) drop();
        return end(*said);
    }
  }

  // Ten thousand that are asked each second would leave as many sockets waiting, for a minute, for what may still come.
  void drop() {
    error_code ignored;
    socket_.set_option(boost::asio::socket_base::linger{true, 0}, ignored);
  }

  void tell(probe_answer answer) {
    if (!std::exchange(told_, true)) detail::complete(own_, std::move(done_), error_code{}, answer);
  }

  void end(probe_answer answer) {
    if (std::exchange(ended_, true)) return;
    error_code ignored;
    socket_.close(ignored);
    if (resolver_) resolver_->cancel();
    alarm_.cancel();
    tell(answer);
  }

  boost::asio::any_io_executor strand_;
  boost::asio::any_completion_executor own_;
  std::shared_ptr<kept_connections> kept_;
  tcp::socket socket_;
  std::optional<tcp::resolver> resolver_;  ///< of a host that is a name
  boost::asio::steady_timer alarm_;
  probe_target target_;
  readiness_probe::handler done_;
  std::optional<ready_events> events_;  ///< of a stream
  std::string request_;
  std::array<char, socket_probe::most_bytes> bytes_{};
  std::size_t size_{0};
  bool reused_{false};     ///< the socket is one that was kept
  bool made_room_{false};
  bool told_{false};
  bool ended_{false};      ///< nothing more is under way
};

}  // namespace detail

AGONES_ALLOC_DECL socket_probe::socket_probe(boost::asio::any_io_executor executor, std::size_t max_kept)
    : strand_{boost::asio::make_strand(std::move(executor))}, own_{strand_}, kept_{std::make_shared<detail::kept_connections>(strand_, max_kept)} {}

AGONES_ALLOC_DECL socket_probe::~socket_probe() {
  boost::asio::post(strand_, [kept = std::move(kept_)] { kept->close(); });
}

AGONES_ALLOC_DECL void socket_probe::do_probe(probe_target target, handler done) {
  std::make_shared<detail::probe_try>(strand_, own_, kept_, std::move(target), std::move(done))->start();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
