#include <agones_alloc/flow/write_fate.hpp>

#include <boost/system/error_code.hpp>
#include <doctest/doctest.h>

using namespace agones_alloc;

namespace {
auto server(char const* version, char const* stamp = nullptr) -> game_server {
  game_server out;
  out.meta.name = "a";
  out.meta.uid = "u1";
  out.meta.resource_version = version;
  if (stamp != nullptr) out.meta.annotations.set(keys::last_allocated_annotation, stamp);
  return out;
}
}  // namespace

TEST_CASE("every condition of the store port has its meaning for a write") {
  CHECK(judge_write({}) == write_answer::applied);
  CHECK(judge_write(errc::conflict) == write_answer::conflict);
  CHECK(judge_write(errc::not_found) == write_answer::gone);
  CHECK(judge_write(errc::refused) == write_answer::refused);
  CHECK(judge_write(errc::invalid_request) == write_answer::refused);
  CHECK(judge_write(errc::unavailable) == write_answer::not_applied);
  CHECK(judge_write(errc::too_many_requests) == write_answer::not_applied);
  CHECK(judge_write(errc::cancelled) == write_answer::cancelled);
  CHECK(judge_write(errc::outcome_unknown) == write_answer::unknown);
}

TEST_CASE("an error nobody classified may have come after the write was sent") {
  CHECK(judge_write(boost::system::errc::make_error_code(boost::system::errc::broken_pipe)) == write_answer::unknown);
  CHECK(judge_write(errc::deadline_exceeded) == write_answer::unknown);
}

TEST_CASE("a write is recognised by its stamp, also under later changes") {
  CHECK(judge_read(server("7"), "t1", server("8", "t1")) == read_answer::applied);
  CHECK(judge_read(server("7", "t0"), "t1", server("12", "t1")) == read_answer::applied);
}

TEST_CASE("the version the write was based on proves that it was not applied") {
  CHECK(judge_read(server("7"), "t1", server("7")) == read_answer::untouched);
  CHECK(judge_read(server("7", "t0"), "t1", server("7", "t0")) == read_answer::untouched);
}

TEST_CASE("another version without any new stamp proves that the write lost") {
  CHECK(judge_read(server("7"), "t1", server("9")) == read_answer::superseded);
  CHECK(judge_read(server("7", "t0"), "t1", server("9", "t0")) == read_answer::superseded);
}

TEST_CASE("somebody else's stamp may lie on top of ours") {
  CHECK(judge_read(server("7"), "t1", server("9", "t2")) == read_answer::ambiguous);
}

TEST_CASE("another server of the same name means that ours is gone") {
  auto other = server("9", "t1");
  other.meta.uid = "u2";
  CHECK(judge_read(server("7"), "t1", other) == read_answer::gone);
}

TEST_CASE("a refresh has no stamp and recognises nothing as its own") {
  CHECK(judge_read(server("7"), "", server("8")) == read_answer::superseded);
}
