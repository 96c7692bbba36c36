// SPDX-License-Identifier: Apache-2.0
//
// Random operations and packets that meet: tables whose rules make them each of the templates,
// matches and packets from one small pool of addresses and ports, all actions, groups that refer to
// groups, meters.
//
// Each is made from a number alone, so that a list of numbers is a test case that can be shrunk.
// Operations may be such as the model refuses: that is part of the test.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/model/operation.h"
#include "pipeline/oracle/packet.h"

namespace coua::test {

/// Packets that come back from other tables come to a meter in another order than that of the
/// burst: a pipeline has one or the other, or neither.
enum class profile { metered, resubmitting, plain };

inline constexpr unsigned pipeline_tables = 9;

/// Ports, meters if there are any, and a way through all tables, so that most packets get far;
/// operations may break it.
std::vector<pipeline::operation> way_through(profile is);
/// The rule of one table.
pipeline::operation way_through(pipeline::table_id table);
pipeline::operation random_operation(std::uint64_t number, profile is);
/// A rule that is likely to be taken, for table `table`.
pipeline::operation random_simple_rule(std::uint64_t number, pipeline::table_id table);
/// Removes all rules of one value from a table whose rules fall into sets by few values.
pipeline::operation random_thinning(std::uint64_t number);
pipeline::packet random_packet(std::uint64_t number);
pipeline::action_list random_packet_out(std::uint64_t number, profile is);

}  // namespace coua::test
