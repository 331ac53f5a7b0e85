#pragma once

// doctest, able to show the types that tests compare most.

#include <string>

#include "absl/strings/string_view.h"
#include "doctest/doctest.h"

namespace doctest {

template <>
struct StringMaker<absl::string_view> {
  static String convert(absl::string_view text) {
    return String(text.data(), static_cast<unsigned>(text.size()));
  }
};

}  // namespace doctest
