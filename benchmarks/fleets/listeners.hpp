// Consumers of a stream of fleets: most only read, some look at what they are told and when.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

inline constexpr std::string_view stream_request =
    "GET /v1/fleets HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";

/// Calls `told(fleet, stamp)` for each change, where it is set: the number in the fleet's name and the count of its counter `t`.
class listener_client : public std::enable_shared_from_this<listener_client> {
 public:
  using observer = std::function<void(std::size_t, std::int64_t)>;
  using buffer = std::array<char, 64 * 1024>;

  listener_client(boost::asio::io_context& io, buffer& shared, observer told) : socket_{io}, shared_{&shared}, told_{std::move(told)} {}

  void start(std::uint16_t port) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    boost::asio::write(socket_, boost::asio::buffer(stream_request));
    read();
  }
  /// Asks, and reads nothing.
  void stall(std::uint16_t port) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    boost::asio::write(socket_, boost::asio::buffer(stream_request));
  }
  auto bytes() const noexcept -> std::uint64_t { return bytes_; }
  auto synced() const noexcept -> bool { return synced_; }
  auto ended() const noexcept -> bool { return ended_; }
  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  // Waits and then reads: a read that is begun may fill the buffer at once, and another one's before its handler runs.
  void read() {
    socket_.non_blocking(true);
    socket_.async_wait(boost::asio::socket_base::wait_read, [self = shared_from_this()](boost::system::error_code ec) {
      auto const size = ec ? 0 : self->socket_.read_some(boost::asio::buffer(*self->shared_), ec);
      if (ec && ec != boost::asio::error::would_block) {
        self->ended_ = true;
        return;
      }
      self->bytes_ += size;
      std::string_view const chunk{self->shared_->data(), size};
      if (self->told_) {
        self->take(chunk);
      } else if (!self->synced_) {
        self->look_for_sync(chunk);
      }
      self->read();
    });
  }

  // The word may come in two chunks.
  void look_for_sync(std::string_view chunk) {
    static constexpr std::string_view word = "SYNCED";
    text_ += chunk.substr(0, word.size() - 1);
    synced_ = text_.find(word) != std::string::npos || chunk.find(word) != std::string_view::npos;
    if (chunk.size() >= word.size()) text_ = chunk.substr(chunk.size() - word.size() + 1);
  }

  void take(std::string_view chunk) {
    text_ += chunk;
    std::size_t at = 0;
    for (auto end = text_.find('\n'); end != std::string::npos; at = end + 1, end = text_.find('\n', at)) {
      line(std::string_view{text_}.substr(at, end - at));
    }
    text_.erase(0, at);
  }

  void line(std::string_view text) {
    if (text == "event: SYNCED") synced_ = true;
    if (text.starts_with("event: ")) changed_ = text == "event: MODIFIED" || text == "event: ADDED";
    if (!changed_ || !text.starts_with("data: ")) return;
    told_(static_cast<std::size_t>(number_after(text, "\"fleetName\":\"f")), number_after(text, "\"t\":{", "\"count\":"));
  }

  static auto number_after(std::string_view text, std::string_view first, std::string_view second = {}) -> std::int64_t {
    auto at = text.find(first);
    if (at != std::string_view::npos && !second.empty()) at = text.find(second, at);
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + (second.empty() ? first : second).size());
    std::int64_t out = 0;
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
  }

  boost::asio::ip::tcp::socket socket_;
  buffer* shared_;
  observer told_;
  std::string text_;
  std::uint64_t bytes_{0};
  bool synced_{false};
  bool changed_{false};
  bool ended_{false};
};

}  // namespace bench
