// SPDX-License-Identifier: Apache-2.0
//
// Random lists of updates and look-ups, checked against a linear list of rules; a failing list is
// shrunk. RC_PARAMS="seed=... max_success=1000" repeats or lengthens a run. Keys and masks use few
// bits, so that rules overlap, share masks and share keys; the same packets are looked up again and
// again, so that hints are used.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "checked_classifier.h"

namespace coua::test {
namespace {

struct model_case {
  classifier_shape shape;
  std::uint32_t n_priorities;
};
void PrintTo(const model_case& one, std::ostream* out) { *out << one.shape.name; }

const model_case cases[] = {
    {{"on", 16, COUA_DISTRIBUTOR_ON, 0}, 6},
    {{"on_flat", 16, COUA_DISTRIBUTOR_ON, 0}, 1},
    {{"on_many_priorities", 16, COUA_DISTRIBUTOR_ON, 0}, 1000},
    {{"on_no_proofs", 16, COUA_DISTRIBUTOR_ON, 1}, 6},
    {{"on_few_proofs", 16, COUA_DISTRIBUTOR_ON, 40}, 50},
    {{"on_few_rules", 16, COUA_DISTRIBUTOR_ON, 0, true, 9}, 6},
    {{"on_few_masks", 16, COUA_DISTRIBUTOR_ON, 0, true, 0, 3}, 6},
    {{"on_one_byte", 1, COUA_DISTRIBUTOR_ON, 0}, 6},
    {{"on_odd", 13, COUA_DISTRIBUTOR_ON, 0}, 6},
    {{"on_wide", 40, COUA_DISTRIBUTOR_ON, 0}, 20},
    {{"on_widest", 256, COUA_DISTRIBUTOR_ON, 0}, 20},
    {{"auto", 16, COUA_DISTRIBUTOR_AUTO, 0}, 6},
    {{"off", 16, COUA_DISTRIBUTOR_OFF, 0}, 6},
    {{"off_many_priorities", 13, COUA_DISTRIBUTOR_OFF, 0}, 1000},
    {{"off_wide", 72, COUA_DISTRIBUTOR_OFF, 0}, 6},
    {{"on_unpruned", 16, COUA_DISTRIBUTOR_ON, 0, false}, 20},
    {{"off_unpruned", 16, COUA_DISTRIBUTOR_OFF, 0, false}, 6},
    {{"off_wide_unpruned", 72, COUA_DISTRIBUTOR_OFF, 0, false}, 20},
};

rc::Gen<rule> arbitrary_rule(const model_case& at) {
  const auto few =
      rc::gen::container<few_bytes>(rc::gen::element<std::uint8_t>(0, 0, 1, 2, 3, 0x83));
  const auto priority = rc::gen::map(rc::gen::inRange<std::uint32_t>(0, at.n_priorities),
                                     [](std::uint32_t p) { return p == 5 ? ~0u : p; });
  return rc::gen::map(rc::gen::tuple(few, few, priority, rc::gen::inRange<std::uint32_t>(0, 1000)),
                      [at](const auto& parts) {
                        rule one{spread(std::get<0>(parts), at.shape.key_bytes),
                                 spread(std::get<1>(parts), at.shape.key_bytes), std::get<2>(parts),
                                 std::get<3>(parts)};
                        for (std::size_t i = 0; i < one.key.size(); ++i) one.key[i] &= one.mask[i];
                        return one;
                      });
}

rc::Gen<classifier_op> arbitrary_op(const model_case& at) {
  using kind = classifier_op_kind;
  const auto which = rc::gen::weightedElement<kind>({{12, kind::add},
                                                     {4, kind::remove},
                                                     {6, kind::look_up},
                                                     {2, kind::look_up_one},
                                                     {1, kind::get},
                                                     {1, kind::invalid},
                                                     {1, kind::reclaim},
                                                     {1, kind::new_reader}});
  return rc::gen::map(
      rc::gen::tuple(which, arbitrary_rule(at), rc::gen::inRange<std::size_t>(0, 200)),
      [](const auto& parts) {
        return classifier_op{std::get<0>(parts), std::get<1>(parts), std::get<2>(parts)};
      });
}

class classifier_model : public testing::TestWithParam<model_case> {};

TEST_P(classifier_model, agrees_with_a_linear_list) {
  const model_case at = GetParam();
  const bool passed = rc::check("random updates and look-ups", [&] {
    const auto ops =
        *rc::gen::scale(4.0, rc::gen::container<std::vector<classifier_op>>(arbitrary_op(at)));
    checked_classifier checked(at.shape);
    for (const classifier_op& op : ops) {
      if (!checked.apply(op) || !checked.look_up(40)) RC_FAIL(checked.failure());
    }
    if (!checked.finish()) RC_FAIL(checked.failure());
  });
  EXPECT_TRUE(passed);
}

INSTANTIATE_TEST_SUITE_P(, classifier_model, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.shape.name); });

}  // namespace
}  // namespace coua::test
