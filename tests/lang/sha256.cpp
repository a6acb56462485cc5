// SPDX-License-Identifier: Apache-2.0
#include "lang/base/sha256.h"

#include <doctest/doctest.h>

using namespace gexp;

TEST_CASE("SHA-256 gives the digests of FIPS 180-4's examples") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("how the bytes are cut does not matter, how fields are cut does") {
  const std::string text(1000, 'x');
  for (std::size_t step : {1, 7, 63, 64, 65, 128}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += step) hash.add(std::string_view(text).substr(at, step));
    CHECK(hash.hex() == sha256_hex(text));
  }
  CHECK(Sha256().add_field("ab").add_field("c").hex() != Sha256().add_field("a").add_field("bc").hex());
}
