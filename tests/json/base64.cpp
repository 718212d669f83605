#include <agones_alloc/json/base64.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

TEST_CASE("base64 is standard, with padding") {
  CHECK(encode_base64("") == "");
  CHECK(encode_base64("f") == "Zg==");
  CHECK(encode_base64("fo") == "Zm8=");
  CHECK(encode_base64("foo") == "Zm9v");
  CHECK(encode_base64("foob") == "Zm9vYg==");
  CHECK(encode_base64("\xff\xfe\xfd") == "//79");
}

TEST_CASE("every byte value survives base64") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    auto const part = bytes.substr(0, size);
    CHECK(decode_base64(encode_base64(part)) == part);
  }
}

TEST_CASE("line ends in base64 are skipped") { CHECK(decode_base64("Zm9v\r\nYg=\n=") == "foob"); }

TEST_CASE("what is not base64 is refused") {
  for (std::string_view const text : {"Z", "Zg", "Zg=", "Zg===", "Zm9v=", "=", "Zg==Zg==", "Zm-v", "Zm_v", "Zm 9v", "Zm9v!"}) {
    CAPTURE(text);
    CHECK_FALSE(decode_base64(text).has_value());
  }
}
