#include "serve/http/framing.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "serve/message.h"
#include "tests/random_seed.h"

namespace gnomon::serve {
namespace {

Frame at_once(const std::string& sent) { return Framing().frame(sent); }

TEST(Framing, HeadsEndWithAnEmptyLine) {
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_FALSE(at_once("").is_whole);
  EXPECT_FALSE(at_once(request.substr(0, request.size() - 1)).is_whole);
  const auto frame = at_once(request + "GET");
  EXPECT_TRUE(frame.is_whole);
  EXPECT_FALSE(frame.is_last);
  EXPECT_EQ(frame.bytes, request.size());
}

TEST(Framing, BodiesAreAsLongAsTheirHeaderTells) {
  const std::string head = "POST / HTTP/1.1\r\ncontent-LENGTH:  5 \r\n\r\n";
  EXPECT_FALSE(at_once(head + "1234").is_whole);
  EXPECT_EQ(at_once(head + "12345GET").bytes, head.size() + 5);
}

TEST(Framing, WhatCannotBeFramedIsTheLastRequest) {
  const std::string most = std::to_string(max_body_bytes);
  const std::string more = std::to_string(max_body_bytes + 1);
  EXPECT_FALSE(at_once("POST / HTTP/1.1\r\nContent-Length: " + most + "\r\n\r\n").is_whole);
  for (const std::string& header :
       {"Content-Length: " + more, std::string("Content-Length: x"), std::string("Content-Length: -1"),
        std::string("Content-Length: 99999999999999999999999"), std::string("Transfer-Encoding: chunked"),
        std::string("Content-Length: 1\r\nContent-Length: 2"), std::string("Content-Length:")}) {
    const auto frame = at_once("POST / HTTP/1.1\r\n" + header + "\r\n\r\n1");
    EXPECT_TRUE(frame.is_whole && frame.is_last) << header;
  }
  const auto endless = at_once("GET /" + std::string(max_head_bytes, 'a'));
  EXPECT_TRUE(endless.is_whole && endless.is_last);
}

/// A stream of requests, cut at random, is framed as if each request had come alone.
TEST(Framing, DoesNotDependOnHowBytesCome) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 300; ++i) {
    const std::string body(random() % 50, '\n');
    const std::string request = "POST /" + std::string(random() % 9, '\r') +
                                " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                                body;
    const std::string stream = request + request;
    Framing framing;
    std::size_t came = 0;
    Frame frame;
    while (!(frame = framing.frame(std::string_view(stream).substr(0, came))).is_whole) {
      ASSERT_LT(came, request.size());
      came = std::min(stream.size(), came + random() % 20);
    }
    EXPECT_EQ(frame.bytes, request.size());
    EXPECT_FALSE(frame.is_last);
  }
}

}  // namespace
}  // namespace gnomon::serve
