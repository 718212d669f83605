// Consumers of information.InformationService/Watch: HTTP/2 by hand, so that a consumer costs this process next to nothing.
#pragma once

#include <agones_alloc_proto/information.pb.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

/// A connection and a stream each. Calls `told(fleet, stamp)` for each change, where it is set: the number in the fleet's name and
/// the count of its counter `t`.
class watcher : public std::enable_shared_from_this<watcher> {
 public:
  using observer = std::function<void(std::size_t, std::int64_t)>;
  using buffer = std::array<char, 64 * 1024>;

  watcher(boost::asio::io_context& io, buffer& shared, observer told) : socket_{io}, shared_{&shared}, told_{std::move(told)} {}

  void start(std::uint16_t port) {
    stall(port);
    socket_.non_blocking(true);
    read();
  }
  /// Asks, and reads nothing.
  void stall(std::uint16_t port) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    socket_.set_option(boost::asio::ip::tcp::no_delay{true});
    boost::asio::write(socket_, boost::asio::buffer(request()));
  }
  /// Whether they want events together; before there are any.
  static auto together() -> bool& {
    static bool out = true;
    return out;
  }
  auto bytes() const noexcept -> std::uint64_t { return bytes_; }
  auto synced() const noexcept -> bool { return synced_; }
  auto ended() const noexcept -> bool { return ended_; }
  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  enum kind : std::uint8_t { data = 0, headers = 1, reset = 3, settings = 4, ping = 6, go_away = 7, window = 8 };
  static constexpr std::uint8_t flag_end = 1;  ///< of a stream; of settings and pings: an answer
  static constexpr std::uint32_t granted = 1U << 20U;  ///< bytes that may be under way

  static auto number(std::uint64_t value, int bytes) -> std::string {
    std::string out;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
    return out;
  }
  static auto frame(kind what, std::uint8_t flags, std::uint32_t stream, std::string const& payload) -> std::string {
    return number(payload.size(), 3) + static_cast<char>(what) + static_cast<char>(flags) + number(stream, 4) + payload;
  }
  static auto field(std::string_view name, std::string_view value) -> std::string {
    std::string out(1, '\0');  // literal, not remembered; both shorter than 127 bytes
    for (auto const part : {name, value}) (out += static_cast<char>(part.size())) += part;
    return out;
  }
  static auto request() -> std::string const& {
    static auto const out =
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings, 0, 0, number(4, 2) + number(granted, 4)) +
        frame(window, 0, 0, number(granted - 65535, 4)) +
        frame(headers, 4, 1, "\x83\x86" + field(":path", "/information.InformationService/Watch") + field(":authority", "localhost") +
                                 field("content-type", "application/grpc") + field("te", "trailers")) +
        frame(data, flag_end, 1, question());
    return out;
  }
  static auto question() -> std::string {
    ::information::InformRequest wanted;
    wanted.set_together(together());
    auto const text = wanted.SerializeAsString();
    return number(text.size(), 5) + text;  // not compressed, and its length
  }

  // Waits and then reads: a read that is begun may fill the buffer at once, and another one's before its handler runs.
  void read() {
    socket_.async_wait(boost::asio::socket_base::wait_read, [self = shared_from_this()](boost::system::error_code ec) {
      auto const size = ec ? 0 : self->socket_.read_some(boost::asio::buffer(*self->shared_), ec);
      if (ec && ec != boost::asio::error::would_block) {
        self->ended_ = true;
        return;
      }
      self->bytes_ += size;
      self->take({self->shared_->data(), size});
      self->read();
    });
  }

  void take(std::string_view chunk) {
    while (!chunk.empty()) {
      if (head_.size() < 9) {
        auto const part = chunk.substr(0, 9 - head_.size());
        head_ += part;
        chunk.remove_prefix(part.size());
        if (head_.size() < 9) return;
        left_ = value_of(head_.substr(0, 3));
        payload_.clear();
      }
      auto const part = chunk.substr(0, left_);
      chunk.remove_prefix(part.size());
      left_ -= part.size();
      if (head_[3] == data) {
        look(part);
      } else if (head_[3] == ping) {
        payload_ += part;
      }
      if (left_ == 0) {
        whole();
        head_.clear();
      }
    }
  }

  /// A frame has come to its end.
  void whole() {
    bool const flagged = (head_[4] & flag_end) != 0;
    switch (head_[3]) {
      case data:
        taken_ += value_of(head_.substr(0, 3));
        if (taken_ > granted / 2) {
          auto const more = number(std::exchange(taken_, 0), 4);
          send(frame(window, 0, 0, more) + frame(window, 0, 1, more));
        }
        break;
      case settings:
        if (!flagged) send(frame(settings, flag_end, 0, {}));
        break;
      case ping:
        if (!flagged) send(frame(ping, flag_end, 0, payload_));
        break;
      case headers:
        if (flagged) ended_ = true;
        break;
      case reset:
      case go_away: ended_ = true; break;
      default: break;
    }
  }

  /// At messages, each after a byte and its size in four; only until all is known, if nobody wants to be told.
  void look(std::string_view part) {
    if (synced_ && !told_) return;
    text_ += part;
    std::size_t at = 0;
    while (text_.size() - at >= 5) {
      auto const size = value_of(text_.substr(at + 1, 4));
      if (text_.size() - at - 5 < size) break;
      if (event_.ParseFromArray(text_.data() + at + 5, static_cast<int>(size))) {
        learn(event_);
        for (auto const& one : event_.more()) learn(one);
      }
      at += 5 + size;
    }
    text_.erase(0, at);
    if (synced_ && !told_) std::string{}.swap(text_);
  }

  void learn(information::InformEvent const& one) {
    using event = information::InformEvent;
    if (one.kind() == event::SYNCED) synced_ = true;
    if (!told_ || (one.kind() != event::MODIFIED && one.kind() != event::ADDED)) return;
    auto const& name = one.fleet().fleetname();
    std::size_t fleet = 0;
    std::from_chars(name.data() + 1, name.data() + name.size(), fleet);
    auto const& counters = one.fleet().recount().counters();
    if (auto const at = counters.find("t"); at != counters.end()) told_(fleet, at->second.count());
  }

  static auto value_of(std::string_view bytes) -> std::size_t {
    std::size_t out = 0;
    for (char const one : bytes) out = out << 8U | static_cast<unsigned char>(one);
    return out;
  }

  void send(std::string const& text) {
    boost::system::error_code ec;
    boost::asio::write(socket_, boost::asio::buffer(text), ec);
    if (ec) ended_ = true;
  }

  boost::asio::ip::tcp::socket socket_;
  buffer* shared_;
  observer told_;
  std::string head_;
  std::string payload_;
  std::string text_;
  static inline information::InformEvent event_;  ///< all are on one thread
  std::size_t left_{0};
  std::size_t taken_{0};  ///< of what was granted
  std::uint64_t bytes_{0};
  bool synced_{false};
  bool ended_{false};
};

}  // namespace bench
