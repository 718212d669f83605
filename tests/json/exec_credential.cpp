#include <agones_alloc/json/exec_credential.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace agones_alloc;

namespace {

constexpr std::string_view v1 = "client.authentication.k8s.io/v1";

auto credential(std::string const& status, std::string_view version = v1) -> std::string {
  return R"({"apiVersion":")" + std::string{version} + R"(","kind":"ExecCredential","spec":{"interactive":false},"status":)" +
         status + "}";
}

auto refusal(std::string const& text) -> std::string {
  auto const got = read_exec_credential(text, v1);
  REQUIRE_FALSE(got.has_value());
  auto out = to_string(got.error());
  CHECK(out.find("secret") == std::string::npos);
  return out;
}

}  // namespace

TEST_CASE("a plugin's token, certificate and expiry are read") {
  auto const got = read_exec_credential(
      credential(R"({"token":"abc","expirationTimestamp":"2026-11-29T12:00:00Z","unknown":1})"), v1);
  REQUIRE(got.has_value());
  CHECK(got->token == "abc");
  CHECK(got->certificate_pem.empty());
  REQUIRE(got->expires);
  CHECK(got->expires->time_since_epoch() == std::chrono::seconds{1795953600});
  auto const pair = read_exec_credential(credential(R"({"clientCertificateData":"C\n","clientKeyData":"K\n"})"), v1);
  REQUIRE(pair.has_value());
  CHECK(pair->certificate_pem == "C\n");
  CHECK(pair->key_pem == "K\n");
  CHECK_FALSE(pair->expires);
}

TEST_CASE("what is no credential is refused without being quoted") {
  CHECK(refusal("secret") != "");
  CHECK(refusal(credential(R"({"token":"secret"})", "client.authentication.k8s.io/v1beta1")) != "");
  CHECK(refusal(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"Secret"})") != "");
  CHECK(refusal(credential("{}")) == "status: holds neither a token nor a certificate");
  CHECK(refusal(credential("null")) == "status: holds neither a token nor a certificate");
  CHECK(refusal(credential(R"({"clientKeyData":"secret"})")) ==
        "status: needs both clientCertificateData and clientKeyData");
  CHECK(refusal(credential(R"({"token":"secret\r\nX: y"})")) == "status.token: holds a control character");
  CHECK(refusal(credential(R"({"token":"secret","expirationTimestamp":"soon"})")) ==
        "status.expirationTimestamp: is no time");
  CHECK(refusal(credential(R"({"token":["secret"]})")) == "status.token: expected a string, got an array");
}

TEST_CASE("a plugin is told what it may know") {
  CHECK(write_exec_info(v1, nullptr) ==
        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}})");
  exec_cluster const cluster{"https://h:6443", "api", "PEM", true};
  CHECK(write_exec_info(v1, &cluster) ==
        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,)"
        R"("cluster":{"server":"https://h:6443","tls-server-name":"api","insecure-skip-tls-verify":true,)"
        R"("certificate-authority-data":"UEVN"}}})");
}
