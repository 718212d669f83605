// An HTTP client whose answers the test gives by hand.
#pragma once

#include <agones_alloc/beast/client/http_client.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace beast_tests {

using namespace agones_alloc;

/// The server's side of a stream: what it sends is read in the pieces it was sent in.
class scripted_stream {
 public:
  explicit scripted_stream(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  void send(std::string text) { pieces_.push_back({{}, std::move(text)}), deliver(); }
  void end(error_code ec = boost::asio::error::eof) { pieces_.push_back({ec, {}}), deliver(); }
  auto reading() const -> bool { return reader_.has_value(); }
  auto gone() const -> bool { return gone_; }

  void read(response_stream::handler done) {
    reader_.emplace(std::move(done));
    deliver();
  }
  void leave() {
    gone_ = true;
    if (reader_) complete(boost::system::error_code{errc::cancelled}, {});
  }

 private:
  void deliver() {
    if (!reader_ || pieces_.empty()) return;
    auto [ec, text] = std::move(pieces_.front());
    if (!ec) pieces_.pop_front();
    last_ = std::move(text);
    complete(ec, last_);
  }
  void complete(error_code ec, std::string_view text) {
    auto done = std::move(*reader_);
    reader_.reset();
    auto const executor = boost::asio::get_associated_executor(done, executor_);
    boost::asio::post(executor_, [executor, ec, text, h = std::move(done)]() mutable {
      boost::asio::dispatch(executor, boost::asio::append(std::move(h), ec, text));
    });
  }

  boost::asio::any_io_executor executor_;
  std::deque<std::pair<error_code, std::string>> pieces_;
  std::string last_;
  std::optional<response_stream::handler> reader_;
  bool gone_{false};
};

class scripted_client final : public http_client {
 public:
  explicit scripted_client(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  struct call {
    client_request request;
    std::optional<response_handler> answered;
    std::optional<stream_handler> opened;
    bool withdrawn{false};
  };

  auto calls() const -> std::size_t { return calls_.size(); }
  auto request(std::size_t i) const -> client_request const& { return calls_.at(i)->request; }
  auto withdrawn(std::size_t i) const -> bool { return calls_.at(i)->withdrawn; }
  auto last() const -> std::size_t { return calls_.size() - 1; }

  void answer(std::size_t i, int status, std::string body, std::optional<std::chrono::seconds> retry_after = {}) {
    client_response response;
    response.status = status;
    response.body = std::move(body);
    response.retry_after = retry_after;
    finish(i, {}, std::move(response));
  }
  void fail(std::size_t i, error_code ec) {
    if (calls_.at(i)->opened) return finish_stream(i, ec, nullptr);
    finish(i, ec, {});
  }
  auto open(std::size_t i, int status = 200, std::optional<std::chrono::seconds> retry_after = {})
      -> std::shared_ptr<scripted_stream> {
    struct stream final : response_stream {
      std::shared_ptr<scripted_stream> server;
      response_head answer;
      ~stream() override { server->leave(); }
      auto head() const noexcept -> response_head const& override { return answer; }
      void do_read_some(handler done) override { server->read(std::move(done)); }
    };
    auto made = std::make_unique<stream>();
    made->server = std::make_shared<scripted_stream>(executor_);
    made->answer.status = status;
    made->answer.retry_after = retry_after;
    auto server = made->server;
    finish_stream(i, {}, std::move(made));
    return server;
  }

 private:
  void do_request(client_request request, response_handler done) override {
    auto& made = add(std::move(request), done);
    made.answered.emplace(std::move(done));
  }
  void do_stream(client_request request, stream_handler done) override {
    auto& made = add(std::move(request), done);
    made.opened.emplace(std::move(done));
  }
  template <class Handler>
  auto add(client_request request, Handler const& done) -> call& {
    calls_.push_back(std::make_shared<call>());
    auto const made = calls_.back();
    made->request = std::move(request);
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
      slot.assign([this, made, i = calls_.size() - 1](boost::asio::cancellation_type) {
        made->withdrawn = true;
        if (made->answered || made->opened) fail(i, errc::cancelled);
      });
    }
    return *made;
  }
  void finish(std::size_t i, error_code ec, client_response response) {
    auto& of = *calls_.at(i);
    if (!of.answered) throw std::logic_error{"this request is answered already"};
    auto done = std::move(*of.answered);
    of.answered.reset();
    auto const executor = boost::asio::get_associated_executor(done, executor_);
    boost::asio::post(executor_, [executor, ec, r = std::move(response), h = std::move(done)]() mutable {
      boost::asio::dispatch(executor, boost::asio::append(std::move(h), ec, std::move(r)));
    });
  }
  void finish_stream(std::size_t i, error_code ec, std::unique_ptr<response_stream> stream) {
    auto& of = *calls_.at(i);
    if (!of.opened) throw std::logic_error{"this stream is open already"};
    auto done = std::move(*of.opened);
    of.opened.reset();
    auto const executor = boost::asio::get_associated_executor(done, executor_);
    boost::asio::post(executor_, [executor, ec, s = std::move(stream), h = std::move(done)]() mutable {
      boost::asio::dispatch(executor, boost::asio::append(std::move(h), ec, std::move(s)));
    });
  }

  boost::asio::any_io_executor executor_;
  std::vector<std::shared_ptr<call>> calls_;
};

}  // namespace beast_tests
