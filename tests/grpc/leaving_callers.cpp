// Callers who leave before, while and after a server is written, over gRPC's own client and the real allocator.
#include "grpc_fixture.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/grpc/allocation_front_end.hpp>

#include <chrono>

using namespace grpc_test;
using namespace std::chrono_literals;

namespace {

/// The next update has this trouble, and says when it comes.
class next_update final : public fault_plan {
 public:
  explicit next_update(store_fault fault) : fault_{std::move(fault)} {}
  auto next(store_operation operation, object_key const&) -> store_fault override {
    if (operation != store_operation::update || used_) return {};
    used_ = true;
    come.set_value();
    return fault_;
  }
  std::promise<void> come;

 private:
  store_fault fault_;
  bool used_{false};
};

/// One server behind the door; the allocator's and the store's time runs only when it is told.
struct one_server : served {
  one_server() : served{nullptr} {
    game_server server;
    server.meta.name = "gs0";
    server.meta.namespace_ = "default";
    server.status.state = game_server_state::ready;
    cache.store(store.create(server).value());
    handler.act = [this](http_request const& request, http_handler::reply done) { door.handle(request, std::move(done)); };
    prepare({});
    REQUIRE_FALSE(listener->listen("127.0.0.1", 0));
    run();
  }
  ~one_server() {
    await([this] { return allocate.outstanding() == 0; });
    stop();
  }
  auto trouble(store_fault fault) -> std::shared_ptr<next_update> {
    auto const plan = std::make_shared<next_update>(std::move(fault));
    on_loop([&] { store.set_faults(plan); });
    return plan;
  }
  void await(std::function<bool()> const& true_now) {
    for (bool done = false; !done;) {
      on_loop([&] { done = true_now(); });
    }
  }
  void advance(std::chrono::nanoseconds by) {
    on_loop([&] { clock.advance(by); });
  }
  auto state() -> game_server_state {
    auto out = game_server_state::error;
    on_loop([&] { out = store.find({"default", "gs0"})->status.state; });
    return out;
  }
  static auto request() -> allocation::AllocationRequest {
    allocation::AllocationRequest out;
    out.set_namespace_("default");
    return out;
  }

  manual_timer clock{io.get_executor()};
  memory_store store{io.get_executor(), memory_store_options{.clock = &clock}};
  ready_cache cache;
  seeded_random random{1};
  allocator allocate{io.get_executor(), cache, store, clock, random};
  allocator_backend backend{allocate};
  allocation_front_end door{backend, clock, {}};
};

/// A call that its client cancels when it is told to.
struct leaver {
  explicit leaver(one_server& to, std::vector<std::pair<std::string, std::string>> const& with = {})
      : stub{allocation::AllocationService::NewStub(to.channel())} {
    for (auto const& [name, value] : with) context.AddMetadata(name, value);
    status = std::async(std::launch::async, [this] { return stub->Allocate(&context, one_server::request(), &response); });
  }
  auto leave() -> int {
    context.TryCancel();
    return status.get().error_code();
  }
  std::unique_ptr<allocation::AllocationService::Stub> stub;
  grpc::ClientContext context;
  allocation::AllocationResponse response;
  std::future<grpc::Status> status;
};

auto by_id(std::string const& id) -> std::function<void(grpc::ClientContext&)> {
  return [id](grpc::ClientContext& context) { context.AddMetadata("idempotency-key", id); };
}

}  // namespace

TEST_CASE("who leaves before the write reaches the store takes no server") {
  one_server s;
  auto const plan = s.trouble({.before = 1s});
  leaver client{s};
  plan->come.get_future().wait();
  CHECK(client.leave() == grpc::StatusCode::CANCELLED);
  s.await([&] { return s.allocate.outstanding() == 0; });
  s.advance(2s);
  CHECK(s.state() == game_server_state::ready);
  CHECK(ask(s.channel(), s.request()).response.gameservername() == "gs0");
}

TEST_CASE("who leaves once the write is made has taken the server, and finds it again under the same id") {
  one_server s;
  auto const plan = s.trouble({.after = 1s});
  leaver client{s, {{"idempotency-key", "match-1"}}};
  plan->come.get_future().wait();
  s.await([&] { return s.store.find({"default", "gs0"})->status.state == game_server_state::allocated; });
  CHECK(client.leave() == grpc::StatusCode::CANCELLED);
  auto again = std::async(std::launch::async, [&] { return ask(s.channel(), s.request(), by_id("match-1")); });
  while (again.wait_for(0s) != std::future_status::ready) s.advance(10ms);
  auto const found = again.get();
  CHECK(found.status.ok());
  CHECK(found.response.gameservername() == "gs0");
  CHECK(found.trailer("agones-alloc-claim") == "match-1");
  CHECK(ask(s.channel(), s.request(), by_id("match-2")).code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_CASE("a server that was written for who has left is free again when its claim ends") {
  one_server s;
  auto const plan = s.trouble({.after = 1s});
  leaver client{s, {{"idempotency-key", "match-1"}, {"agones-alloc-claim-ttl", "30s"}}};
  plan->come.get_future().wait();
  s.await([&] { return s.store.find({"default", "gs0"})->status.state == game_server_state::allocated; });
  CHECK(client.leave() == grpc::StatusCode::CANCELLED);
  s.advance(2s);
  CHECK(s.state() == game_server_state::allocated);
  for (int i = 0; i != 100 && s.state() != game_server_state::ready; ++i) s.advance(1s);
  CHECK(s.state() == game_server_state::ready);
}

TEST_CASE("a deadline that ends in the middle of a claim costs no server") {
  one_server s;
  auto const plan = s.trouble({.before = 1h});
  auto const got = ask(s.channel(), s.request(), [](grpc::ClientContext& context) {
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(500, GPR_TIMESPAN)));
  });
  CHECK(got.code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  s.await([&] { return s.allocate.outstanding() == 0; });
  s.advance(2h);
  CHECK(s.state() == game_server_state::ready);
  CHECK(ask(s.channel(), s.request()).response.gameservername() == "gs0");
}

TEST_CASE("an answer that nobody waits for any more takes its server with it, and it is confirmed to nobody") {
  one_server s;
  auto const first = ask(s.channel(), s.request(), by_id("match-1"));
  CHECK(first.response.gameservername() == "gs0");
  leaver late{s, {{"idempotency-key", "match-1"}}};
  late.leave();  // before or after its answer: it is the same server
  auto const again = ask(s.channel(), s.request(), by_id("match-1"));
  CHECK(again.response.gameservername() == "gs0");
  CHECK(again.trailer("agones-alloc-repeated") == "true");
}
