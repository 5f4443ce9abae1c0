#include "runtime/emulated/link_flows.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gnomon::runtime::emulated {
namespace {

TEST(LinkFlows, AloneAFlowTakesItsTime) {
  LinkFlows link;
  const auto first = link.begin(5, 2);
  EXPECT_DOUBLE_EQ(link.end_s(first), 7);
  link.forget(first, 7);
  const auto second = link.begin(20, 0.5);
  EXPECT_DOUBLE_EQ(link.end_s(second), 20.5);
}

TEST(LinkFlows, FlowsShareTheLinkEqually) {
  LinkFlows link;
  const auto longer = link.begin(0, 3);
  const auto shorter = link.begin(0, 1);
  EXPECT_DOUBLE_EQ(link.end_s(shorter), 2) << "half of the bandwidth each";
  EXPECT_DOUBLE_EQ(link.end_s(longer), 4) << "2 s of work are left when the other ends";
}

TEST(LinkFlows, AFlowThatBeginsMeanwhileDelaysTheOther) {
  LinkFlows link;
  const auto copy = link.begin(0, 4);
  EXPECT_DOUBLE_EQ(link.end_s(copy), 4);
  const auto reads = link.begin(1, 1);
  EXPECT_DOUBLE_EQ(link.end_s(reads), 3);
  EXPECT_DOUBLE_EQ(link.end_s(copy), 5);
  const auto late = link.begin(4.5, 1);  // the copy has half a second of work left
  EXPECT_DOUBLE_EQ(link.end_s(reads), 3);
  EXPECT_DOUBLE_EQ(link.end_s(copy), 5.5);
  EXPECT_DOUBLE_EQ(link.end_s(late), 6);
}

TEST(LinkFlows, NoWorkIsLost) {
  LinkFlows link;
  double work_s = 0;
  LinkFlows::Flow last = 0;
  for (int i = 0; i < 50; ++i) {
    const double own_s = 1 + i % 7;
    work_s += own_s;
    last = link.begin(0.25 * i, own_s);
  }
  double end_s = 0;
  for (LinkFlows::Flow flow = 0; flow <= last; ++flow) {
    end_s = std::max(end_s, link.end_s(flow));
  }
  EXPECT_NEAR(end_s, work_s, 1e-9) << "a link that is never idle";
}

TEST(LinkFlows, FlowsWithoutWorkEndAtOnce) {
  LinkFlows link;
  link.begin(0, 1);
  EXPECT_DOUBLE_EQ(link.end_s(link.begin(0.5, 0)), 0.5);
}

}  // namespace
}  // namespace gnomon::runtime::emulated
