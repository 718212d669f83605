#include <agones_alloc/model/field_error.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

TEST_CASE("a field error prints as Kubernetes prints it, by type") {
  CHECK(to_string(field_error{field_error_type::invalid, "spec.a", "-1", "must be greater than or equal to 0"}) ==
        "spec.a: Invalid value: -1: must be greater than or equal to 0");
  CHECK(to_string(field_error{field_error_type::not_supported, "spec.scheduling", "\"x\"", "supported values: \"Packed\""}) ==
        "spec.scheduling: Unsupported value: \"x\": supported values: \"Packed\"");
  CHECK(to_string(field_error{field_error_type::forbidden, "spec.lists", "ignored", "no"}) == "spec.lists: Forbidden: no");
  CHECK(to_string(field_error{field_error_type::too_long, "m", "", "may not be more than 262144 bytes"}) ==
        "m: Too long: may not be more than 262144 bytes");
  CHECK(to_string(field_error{field_error_type::required, "m", "", "name it"}) == "m: Required value: name it");
  CHECK(to_string(field_error_type::too_long) == "FieldValueTooLong");
}

TEST_CASE("several errors print in brackets, exact duplicates once, in order") {
  field_error const one{field_error_type::forbidden, "b", "", "x"};
  field_error const two{field_error_type::forbidden, "a", "", "x"};
  CHECK(to_string(field_errors{one, one}) == "b: Forbidden: x");
  CHECK(to_string(field_errors{one, two, one}) == "[b: Forbidden: x, a: Forbidden: x]");
}

TEST_CASE("thousands of errors print in their order, each distinct one once") {
  field_errors many;
  std::string wanted = "[";
  for (int i = 0; i < 20'000; ++i) {
    auto const field = "f" + std::to_string(i);
    many.push_back({field_error_type::forbidden, field, "", "x"});
    many.push_back({field_error_type::forbidden, "f0", "", "x"});
    wanted += (i == 0 ? "" : ", ") + field + ": Forbidden: x";
  }
  CHECK(to_string(many) == wanted + "]");
}

TEST_CASE("bad strings are quoted with Go's escapes") {
  CHECK(go_quoted("a\"b\\c\n\t\x01\x7f") == "\"a\\\"b\\\\c\\n\\t\\x01\\x7f\"");
  CHECK(go_quoted("ü") == "\"ü\"");
}
