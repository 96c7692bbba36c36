// SPDX-License-Identifier: Apache-2.0
//
// One worker's way through a plan: a burst of packets goes through the tables together.
//
//   parse; to table 0, and then
//
//   while a table has pending packets, the lowest first (goto only goes up, resubmit anywhere):
//     take     its packets, and those of other tables whose entries are in the same store
//     look up  all keys as one batch; heads of records
//     resolve  the record that counts at the burst's version; where a rule is not there at that
//              version, what matches next
//     execute  packets whose records have one shape, op by op: each op runs over all of them
//     next     pending[next table]; or the action set, and the end
//
// Copies. A packet that is sent is not copied yet: the delivery borrows it. Only when it is sent
// again, or its frame is about to be changed, does the earlier delivery get a copy of its own. So a
// packet that is sent once, as the last thing, is never copied, whatever the actions looked like to
// the compiler.
//
// Sent. Most packets go to one port, and nothing else happens to them: of these the port is noted
// (first_), and a delivery is made only when something does.
//
// Order. The deliveries of one packet are in the order of its actions, and packets in that of the
// burst. They are listed packet by packet (delivery::next) as they come, whatever the order of
// tables in which they were made.
//
// Resubmit. A packet that a rule resubmits leaves its work, with a frame that says where it goes
// on, and is pending at the other table, along with others. When it has come to an end there, it
// has returned; those that return to the same op of the same shape go on together. Lists that are
// not a rule's (buckets, packet-outs) wait for the packet instead: it goes alone, as all copies do.
//
// Trains. Where the whole burst is of one flow, one packet is looked up for all
// (executor_train.cc).
//
// Joined. The first table and those behind it may be one look-up; packets that it does not know go
// to the first table (executor_joined.cc).
//
// Versions, docs/pipeline.md; counters, worker_counts.h. Nothing here allocates, waits, or calls
// the system, but the copier, and a meter: its lock, and the clock.
//
// Thread rules: one thread at a time, a reader of the plan's grace periods. Between two runs it
// holds nothing of the plan, but deliveries of the last run are valid until a packet of the next
// one is put.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/reserved_array.h"
#include "net/rewrite.h"
#include "pipeline/datapath/delivery.h"
#include "pipeline/datapath/group_version.h"
#include "pipeline/datapath/learning.h"
#include "pipeline/datapath/meter_version.h"
#include "pipeline/datapath/packet_state.h"
#include "pipeline/datapath/plan.h"
#include "pipeline/datapath/worker_counts.h"
#include "pipeline/model/resubmit.h"

namespace coua::pipeline {

class executor {
 public:
  static constexpr unsigned burst_max = 64;
  /// Of one burst. More than a packet can ask for (group_ways_max); what is beyond is dropped.
  static constexpr std::uint32_t deliveries_max = 1 << 18;
  /// Rules that one burst leaves behind; what is beyond is counted (pipeline_drop::learn_too_many).
  static constexpr unsigned learned_max = 256;
  /// One burst of so many is timed, the first one too: two looks at the clock of all of them would
  /// take up to 1 % of a short pipeline.
  static constexpr unsigned timed_each = 16;

  struct arrival {
    owned_packet what;
    port_no in_port = 0;
  };

  /// `worker` is below the number that the compiler was made for. All must outlive it. Errors:
  /// no_room (256 readers), no_memory.
  static result<std::unique_ptr<executor>> create(published_plan& follows, unsigned worker,
                                                  worker_counts& counts, packet_copier& copier);
  ~executor();
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Time that is read from the system's clock when a meter asks for it.
  static constexpr time_ns when_asked = ~time_ns{0};
  /// Packet `i`, below burst_max, of the next run.
  void put(unsigned i, const arrival& from) noexcept {
    COUA_ASSERT(i < burst_max);
    packet_state& p = packets_[i];
    p.buffer = from.what.buffer;
    p.in_port = p.in_phy_port = from.in_port;
    owner_[i] = from.what.owner;
    frame_bytes_[i] = from.what.buffer.length;
  }
  /// The first `n` packets, which were put. Afterwards each of them is in a delivery, or left over.
  void run(unsigned n, time_ns now) noexcept;
  /// Up to burst_max packets.
  void run(std::span<const arrival> burst, time_ns now) noexcept {
    for (unsigned i = 0; i < burst.size(); ++i) put(i, burst[i]);
    run(static_cast<unsigned>(burst.size()), now);
  }
  /// One packet through a list of actions, as a packet-out asks for; in_port may be
  /// port_controller. The list was compiled under a version that is published.
  void run_actions(const arrival& one, const op_list& actions, time_ns now) noexcept;

  /// Calls `call(delivery, owned_packet)` for each of the last run, packet by packet.
  template <class Call>
  void each_delivery(Call call) const {
    each_sent_or_delivered([&](unsigned i) { call(sent_delivery(i), packet_of(i)); }, call);
  }
  /// The same, but `sent(port_no, owned_packet)` for most packets that go to one port only.
  template <class Sent, class Call>
  void each_delivery(Sent sent, Call call) const {
    each_sent_or_delivered([&](unsigned i) { sent(sent_to(i), packet_of(i)); }, call);
  }
  /// Where all that came of the last run is that each of its packets goes to one and the same port:
  /// that one. 0: something else did.
  port_no only_port() const noexcept {
    const std::uint32_t first = first_[0];
    std::uint32_t differs = n_ == 0 || (first & sent_bit) == 0;
    for (unsigned i = 0; i < n_; ++i) differs |= first_[i] ^ first;
    return differs == 0 ? first & ~sent_bit : 0;
  }
  /// Whether a packet of the last run may have got longer or shorter.
  bool is_some_resized() const noexcept { return some_resized_; }

  /// Calls `call(owned_packet)` for each packet of the last run, in order.
  template <class Call>
  void each_packet(Call call) const {
    for (unsigned i = 0; i < n_; ++i) call(packet_of(i));
  }
  /// Packets of the last run that go nowhere.
  std::span<const owned_packet> left_over() const { return {left_over_.data(), n_left_over_}; }

  /// What packets of the last run leave behind.
  std::span<const learned_values> learned() const { return {learned_.data(), n_learned_}; }

  /// Calls `call(owned_packet)` for each packet of the last run that is in no delivery.
  template <class Call>
  void each_dropped(Call call) const {
    for (unsigned i = 0; i < n_; ++i)
      if (first_[i] == 0) call(packet_of(i));
  }
  /// Packets of the last run that are in no delivery: they were dropped.
  unsigned n_dropped() const {
    return static_cast<unsigned>(std::count(first_, first_ + n_, std::uint32_t{0}));
  }

  /// The pipeline is nothing but the L2 switch: packets may go there at once, by one count_normal()
  /// with the answer before the next run() or rest(). none: they may not.
  static constexpr std::uint32_t none = published_plan::not_normal;
  std::uint32_t all_normal() const noexcept {
    return follows_.all_normal.load(std::memory_order_acquire);  // with pipeline_compiler::publish
  }
  void count_normal(std::uint32_t rule, std::uint64_t n_packets, std::uint64_t n_bytes) noexcept {
    counts_.add(rule, n_bytes, n_packets);
    counts_.add_table(0, n_packets, n_packets);
  }

  /// Ports to which the L2 switch must not forward (published_plan::no_fwd).
  std::uint64_t no_fwd() const noexcept {
    return follows_.no_fwd.load(std::memory_order_acquire);  // with pipeline_compiler::publish
  }

  /// Ports from which packets are dropped, for those that pass the pipeline over
  /// (published_plan::no_recv); what is dropped so is counted here, too.
  std::uint64_t no_recv() const noexcept {
    return follows_.no_recv.load(std::memory_order_acquire);  // with pipeline_compiler::publish
  }
  void count_closed(unsigned n_packets) noexcept {
    counts_.add(pipeline_drop::port_closed, n_packets);
  }

  /// A worker without packets at hand lets a grace period pass. Deliveries of the last run stay.
  void rest() noexcept { grace_.quiescent(); }
  /// A worker that stops polling for a while.
  void go_offline() noexcept { grace_.offline(); }
  void go_online() noexcept { grace_.online(); }

 private:
  /// A burst of no more clears what is kept for each packet for so many only.
  static constexpr unsigned few_packets = 16;

  // A slot has a packet: those of the burst, and from burst_max on copies that buckets work on,
  // which live as long as their bucket.
  using slot = std::uint8_t;
  static constexpr bool is_copy(slot at) noexcept { return at >= burst_max; }
  /// A bit for each packet of a burst, by its slot, or by its place in a list.
  using packet_bits = std::uint64_t;
  static_assert(burst_max <= 64);
  static constexpr packet_bits first_bits(unsigned n) noexcept {
    return n < 64 ? (packet_bits{1} << n) - 1 : ~packet_bits{0};
  }
  static constexpr unsigned n_slots = burst_max + group_depth_max + 1;
  /// 0, 1, 2...
  static constexpr auto first_slots = [] {
    std::array<slot, burst_max> made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<slot>(i);
    return made;
  }();

  /// Where a packet goes on after a resubmit.
  struct call_frame {
    const action_shape* shape;  // null: in the list that run_nested was called from
    const op* ops;
    std::uint16_t index;  // of the next op
    table_id next_table;
    table_id table;  // in which it was
    bool deepens;
  };
  /// Packets of one shape, with the ops of each, and the table that it goes to.
  struct work {
    unsigned n = 0;
    bool next_differs = false;  // it may; else only the first one is there
    bool is_in_a_row = false;   // the first n slots
    bool all_sent = false;      // each is in a delivery, or noted
    slot at[burst_max];
    table_id next[burst_max];
    const op* ops[burst_max];

    table_id next_of(unsigned k) const noexcept { return next_differs ? next[k] : next[0]; }
    void add(slot packet, const action_record& record) noexcept {
      at[n] = packet;
      next[n] = record.traits.next_table;
      next_differs |= next[n] != next[0];
      ops[n++] = record.ops();
    }
    /// Those whose bits are set, by their place here.
    void leave_out(packet_bits some) noexcept {
      unsigned n_left = 0;
      is_in_a_row = false;
      for (unsigned k = 0; k < n; ++k) {
        if ((some >> k & 1) != 0) continue;
        at[n_left] = at[k];
        if (next_differs) next[n_left] = next[k];
        ops[n_left++] = ops[k];
      }
      n = n_left;
    }
  };
  /// Packets that are looked up as one batch, in the order of the burst.
  struct packet_list {
    unsigned n = 0;
    bool is_in_a_row = false;  // the first n slots
    bool is_mixed = false;     // they are at several tables of a batch (plan::batch_of)
    slot at[burst_max];

    packet_list() = default;
    /// One packet.
    explicit packet_list(slot packet) : n(1) { at[0] = packet; }
    /// Those whose bits are set, by slot.
    void put(packet_bits packets) noexcept {
      is_in_a_row = (packets & (packets + 1)) == 0;
      if (is_in_a_row) [[likely]] {
        // All of a burst, mostly.
        n = static_cast<unsigned>(std::countr_one(packets));
        std::copy(std::begin(first_slots), std::end(first_slots), at);
        return;
      }
      n = 0;
      for (; packets != 0; packets &= packets - 1)
        at[n++] = static_cast<slot>(std::countr_zero(packets));
    }
  };

  /// Of the packets of a list, in its order.
  struct met_rules {
    const action_record* records[burst_max];  // null: none matches
    std::uint32_t counters[burst_max];        // 0 for those

    met_rule at(unsigned k) const noexcept { return {records[k], counters[k]}; }
    void put(unsigned k, const met_rule& one) noexcept {
      records[k] = one.record;
      counters[k] = one.counters;
    }
    void clear(unsigned n) noexcept {
      std::fill_n(records, n, nullptr);
      std::fill_n(counters, n, 0);
    }
  };

  /// What records of a list have in common.
  struct alike {
    bool shapes = false;   // all have one
    bool metered = false;  // some is
  };

  executor(published_plan& follows, unsigned worker, worker_counts& counts, packet_copier& copier);

  owned_packet packet_of(unsigned i) const noexcept { return {packets_[i].buffer, owner_[i]}; }
  template <class Sent, class Call>
  void each_sent_or_delivered(Sent sent, Call call) const {
    for (unsigned i = 0; i < n_; ++i) {
      if (is_sent(i)) [[likely]] {
        sent(i);
        continue;
      }
      for (std::uint32_t at = first_[i]; at != 0;) {
        const delivery& one = deliveries_[at];
        if (at == borrowed_[i]) [[likely]] {
          call(one, packet_of(i));
        } else {
          call(one, one.copy);
        }
        at = one.next;
      }
    }
  }

  // executor.cc
  void run_burst(unsigned n, time_ns now) noexcept;
  void begin(time_ns now) noexcept;
  /// The first `n` packets, which were put.
  void load(unsigned n) noexcept;
  template <net::parse_depth Depth>
  void parse_all() noexcept;
  template <class Parse>
  unsigned parse_run(unsigned i, Parse parse) noexcept;
  void look_at_ports() noexcept;
  /// Of the run before, that had so many packets.
  void clear_state(unsigned n_before) noexcept;
  void finish() noexcept;
  /// Bits of those whose port may receive.
  packet_bits admitted() noexcept;
  /// Bits of slots, whose table it is already, or another one of its batch.
  void send_to(packet_bits packets, table_id table) noexcept;
  /// Until no packet is pending, nor one has to come back.
  void run_tables() noexcept;
  void run_pending() noexcept;
  /// Looks packets up at the tables where they are, and does what their rules say.
  void run_batch(const packet_list& list) noexcept;
  void take_pending(table_id batch, packet_list& out) noexcept;
  void execute(const packet_list& list, const met_rules& found) noexcept;
  /// Counts those that have a record. Bits of the others, by their place in the list. `all`: what
  /// there is to do, where all have one and are alike.
  packet_bits count(const packet_list& list, const met_rules& found, work& all,
                    alike& are) noexcept;
  void count_tables(const packet_list& list, packet_bits missed) noexcept;
  void miss(slot at) noexcept;
  /// Meters come before all other ops. Bits of those that they drop.
  packet_bits meter_all(const packet_list& list, const met_rules& found,
                        packet_bits which) noexcept;
  void run_shape(const action_shape& shape, work& all) noexcept;
  void send_on(const work& all) noexcept;
  void end_of_pipeline(work& all) noexcept;
  void run_sets(slot at) noexcept;

  // executor_resubmit.cc
  /// Those of a shape that resubmits, from an op on.
  void run_calling(const action_shape& shape, unsigned first, work& all) noexcept;
  /// False: it comes to a bound, and ends.
  bool begin_call(slot at, const op& how, call_frame back) noexcept;
  call_frame end_call(slot at) noexcept;
  void resume_returned() noexcept;
  /// Goes and comes back before other packets do anything. False: it ended.
  bool run_nested(slot at, const op& how) noexcept;
  bool step_nested(slot at) noexcept;
  void resume_nested(slot at, const call_frame& back) noexcept;
  void look_up_nested(slot at) noexcept;
  /// Where one that goes alone waits.
  enum class waits : std::uint8_t { nowhere, at_table, returned };
  waits take_alone(slot at) noexcept;
  void wait_alone(slot copy, waits where) noexcept;
  /// At table_[at], or where it was resubmitted.
  void wait_at_table(slot at) noexcept;
  void go_back(slot at) noexcept;
  void show_in_ports(const packet_list& list) noexcept;
  void leave_out_returned(work& all) noexcept;
  /// After a look-up: conjunctions, and ports that only it was to see.
  void look_up_specially(table_id table, const packet_list& list, met_rules& found) noexcept;
  bool has_clauses(table_id table) const noexcept {
    return some_clauses_ && plan_->clauses[table] != nullptr;
  }
  void drop_full_sets(work& all) noexcept;

  // executor_conjunction.cc
  /// Of a packet, and of one priority.
  struct met_conjunction {
    std::uint32_t id, n_clauses;
    std::uint64_t clauses;  // bits of those that match
  };
  /// What is beyond is not met.
  static constexpr std::uint32_t met_conjunctions_max = 1 << 16;
  void look_up_conjunctions(table_id table, const packet_list& list, met_rules& found) noexcept;
  met_rule find_conjunction(table_id table, slot at, const action_record* other,
                            const std::uint64_t* key, record_id head, std::uint32_t rank) noexcept;
  void meet(const action_record& clause) noexcept;
  met_rule settle_conjunctions(table_id table, slot at) noexcept;

  // executor_train.cc
  /// Fewer packets are looked up sooner than it is found out whether they are one flow's, or meet
  /// one rule.
  static constexpr unsigned train_min = 12;
  bool may_be_one_flow() const noexcept;
  bool is_one_key(const table_stage& of, const packet_list& list) noexcept;
  bool is_one_key(const key_layout& layout, const packet_list& list) noexcept;
  bool is_one_key(const prefix_table& prefixes, const packet_list& list) noexcept;
  /// look_up(), where is_train_ is set.
  [[gnu::noinline]] void look_up_train(const table_stage& of, const packet_list& list,
                                       met_rules& found) noexcept;
  /// All have one rule, as far as every fourth of them tells.
  static bool may_be_one_rule(const met_rules& found, unsigned n) noexcept {
    std::uint32_t differs = found.records[0] == nullptr || n < train_min;
    for (unsigned k = 0; k < n; k += 4) differs |= found.counters[k] ^ found.counters[0];
    return differs == 0;
  }
  /// As count(). False: they meet not one rule, and nothing was counted.
  [[gnu::noinline]] bool count_as_one(const packet_list& list, const met_rules& found, work& all,
                                      alike& are) noexcept;

  // executor_joined.cc
  /// Bits of those that are to go to table 0 still.
  packet_bits run_joined(packet_bits arrived) noexcept;
  /// Whether it pays; it is tried again after some bursts.
  void weigh_joined(unsigned n_met, unsigned n_missed) noexcept;

  // executor_look_up.cc: the rule that each packet meets.
  void look_up(const table_stage& of, const packet_list& list, met_rules& found) noexcept;
  void look_up_direct(const table_stage& of, const packet_list& list, met_rules& found) noexcept;
  void look_up_exact(const table_stage& of, const packet_list& list, met_rules& found) noexcept;
  class asked;
  /// Bits of the rows that match, of each that was asked. Returns the rows that any of them
  /// matches.
  std::uint64_t find_rows(const direct_table& table, const asked& which,
                          std::uint64_t* matched) noexcept;
  const action_record* record_of(const direct_table& table, unsigned rule) const noexcept;
  template <class HeadAt, class Find>
  bool find_rules(const packet_list& list, const asked& which, met_rules& found, HeadAt head_at,
                  Find find) const noexcept;
  met_rule to_count(const met_rule& one) const noexcept;
  void take_catch_alls(const packet_list& list, met_rules& found) const noexcept;
  [[gnu::cold]] void take_for_all(const packet_list& list, met_rules& found) const noexcept;
  [[gnu::cold]] met_rule met_without(const prefix_table& prefixes,
                                     const packet_state& from) const noexcept;
  template <class Address>
  void look_up_prefixes(const table_stage& of, const packet_list& list, met_rules& found) noexcept;
  template <class Address>
  void take_prefixes(const table_stage& of, const packet_list& list, const asked& which,
                     const lpm_table<Address>* const* tables, const lpm_slot* slots,
                     const lpm_handle* heads, met_rules& found) noexcept;
  void look_up_rest(const table_stage& of, const packet_list& list, met_rules& found,
                    bool has_all) noexcept;
  void look_up_decomposed(const table_stage& of, const packet_list& list,
                          met_rules& found) noexcept;
  struct ranked;
  ranked best_of(const direct_table& table, std::uint64_t rows, ranked so_far) const noexcept;
  struct in_prefixes;
  template <class Address>
  void look_up_sets_of_prefixes(const in_prefixes& those, bool are_ranked, ranked* best) noexcept;
  void look_up_sets(const table_stage& of, const packet_list& list, bool are_ranked,
                    ranked* best) noexcept;
  void look_up_apart(const direct_table& table, const packet_list& list, ranked* best) noexcept;
  /// Rules apart that are above those that were found.
  void look_up_beside(const direct_table& table, const packet_list& list,
                      met_rules& found) noexcept;
  void look_up_wildcard(const table_stage& of, const packet_list& list, met_rules& found) noexcept;

  // executor_ops.cc
  /// Whether anything is done with the packet, as it is now, after an op or a list.
  enum class then : std::uint8_t { more, nothing };
  void run_op(work& all, unsigned index, then after) noexcept;
  /// False: the packet ended.
  bool run_list(slot at, const op_list& list, then after) noexcept;
  void run_on_frames(work& all, unsigned index) noexcept;
  void run_decrement(work& all, unsigned index) noexcept;
  void run_learn(const work& all, unsigned index) noexcept;
  /// False: it was dropped.
  bool pass_meter(slot at, const op& one) noexcept;
  void run_pipeline(slot at) noexcept;
  /// False: there was no room for a tag or label, and the packet ends. What comes next is meant for
  /// a packet that has it, and would change the one that was there before.
  [[nodiscard]] bool settle(slot at, net::rewrite_result done) noexcept;

  // executor_fused.cc
  /// Ops from an index on that fused_ops.h has as row `which`, from 1. Returns how many they are.
  unsigned run_fused(work& all, unsigned index, std::uint8_t which) noexcept;
  template <std::size_t Row>
  void run_row(work& all, unsigned index) noexcept;
  /// Those whose bits are set, by their place in the work: of whom the controller may want to know,
  /// and those that found no room for a tag or label.
  void end_some(work& all, unsigned index, packet_bits invalid, packet_bits lost) noexcept;

  // executor_groups.cc
  void run_group(slot at, const versioned<group_version>& group, then after) noexcept;
  void run_bucket(slot at, const group_version& of, std::size_t index, then after) noexcept;
  void run_bucket_list(slot at, const op_list& list, then after) noexcept;
  /// A list that is not a rule's, and the action set of what it resubmits to.
  void run_apart(slot at, const op_list& list) noexcept;
  /// A slot with a copy; none: there is no memory, which is counted.
  std::optional<slot> copy_to_slot(slot at) noexcept;
  void leave_slot(slot copy) noexcept;

  // Packets of the burst that are sent: the port is where the number of a delivery would be.
  static constexpr std::uint32_t sent_bit = std::uint32_t{1} << 31;
  static_assert(deliveries_max < sent_bit && port_list::n_near <= sent_bit);
  bool is_sent(unsigned i) const noexcept { return (first_[i] & sent_bit) != 0; }
  port_no sent_to(unsigned i) const noexcept { return first_[i] & ~sent_bit; }
  /// Only what its kind has: a delivery is long.
  void fill_sent(delivery& into, unsigned i) const noexcept {
    into.port = sent_to(i);
    into.in_port = packets_[i].in_port;
    into.queue = packets_[i].queue;
    into.next = 0;
    into.to = delivery::kind::port;
  }
  delivery sent_delivery(unsigned i) const noexcept {
    delivery made;
    fill_sent(made, i);
    return made;
  }
  /// Makes the delivery of a packet that is only noted, before anything happens to it or its queue.
  void deliver_sent(slot at) noexcept {
    if (at < burst_max && is_sent(at)) make_sent_delivery(at);
  }
  void make_sent_delivery(slot at) noexcept;

  // executor_outputs.cc
  void run_output(const work& all, unsigned index) noexcept;
  void run_output_bits(const work& all, unsigned index) noexcept;
  /// The next delivery of the packet, which it borrows. Null: there are too many.
  delivery* deliver(slot at, delivery::kind to) noexcept;
  void output(slot at, port_no to) noexcept;
  void output_by_number(slot at, port_no to) noexcept;  // not to where it came from
  void output_all(slot at, bool flood) noexcept;
  void output_controller(slot at, packet_in_reason reason, std::uint64_t cookie) noexcept;
  /// Before the frame changes: a delivery that borrows it gets a copy.
  void own_frame(slot at) noexcept;
  void own_frames(const work& all) noexcept {
    if (!some_borrowed_) return;
    for (unsigned k = 0; k < all.n; ++k) own_frame(all.at[k]);
  }

  published_plan& follows_;
  const unsigned worker_;
  worker_counts& counts_;
  packet_copier& copier_;
  const simd::direct_match_kernel match_rows_;
  qsbr::reader grace_;
  unsigned n_runs_ = 0;        // the remainder by timed_each counts
  int joined_balance_ = 0;     // of late: packets that met joined rules, less what others paid
  unsigned n_not_joined_ = 0;  // bursts that are not looked up there, for it did not pay

  // Of the run under way.
  const plan* plan_ = nullptr;
  version_no version_ = 0;
  const joined_tables* joined_ = nullptr;  // null: there is none
  time_ns now_ = 0;
  net::parse_depth depth_ = net::parse_depth::link;
  unsigned n_ = 0;              // packets
  unsigned n_slots_ = 0;        // up to the last copy; burst_max without one
  bool some_borrowed_ = false;  // or noted as sent
  packet_state packets_[n_slots];
  bool some_state_ = false;  // what load() leaves as it is may be another one than 0
  bool some_resized_ = false;
  /// All packets came by one port, and no table has been shown another one for any of them.
  bool is_one_port_ = false;
  unsigned port_states_ = 0;  // all that is so of some port of the burst
  // By slot.
  void* owner_[n_slots];
  std::uint32_t borrowed_[n_slots];     // by this delivery; 0: by none that was made
  std::uint32_t frame_bytes_[n_slots];  // as it came
  std::uint16_t n_sets_[n_slots];       // action sets written since the last clear
  std::uint16_t n_calls_[n_slots];      // resubmits that it has to come back to
  std::uint8_t call_depth_[n_slots];    // of them, those to the same table or an earlier one
  std::uint8_t origin_[n_slots];        // which packet of the burst
  table_id table_[n_slots];
  std::vector<const action_set_ops*> sets_;  // n_tables_max for each slot
  std::uint64_t pending_tables_[4] = {};
  packet_bits pending_[n_tables_max] = {};  // by batch
  bool some_clauses_ = false;               // of the plan
  bool is_special_ = false;                 // look_up_specially() has to do
  bool some_called_ = false;                // some packet of the burst was resubmitted
  /// Some packet of the burst has written an action set, or lost a delivery: only then need those
  /// of which all were sent (work::all_sent) be looked at when they come to their end.
  bool ends_differ_ = false;
  bool is_train_ = false;  // the packets of the burst may be of one flow
  unsigned bucket_nesting_ = 0;
  packet_bits returned_ = 0;  // those that go on where they were resubmitted
  /// Where the last copy does: those before it wait for it, in their buckets.
  waits copy_waits_ = waits::nowhere;
  std::uint16_t n_resubmits_[burst_max];  // by packet of the burst
  bool is_disguised_[n_slots] = {};       // its in_port is another one for a look-up
  port_no in_ports_[n_slots];             // of those their own
  alignas(64) std::uint64_t clause_keys_[burst_max * key_words::max];
  reserved_array<met_conjunction> conjunctions_;
  std::uint32_t n_conjunctions_ = 0;
  reserved_array<call_frame> calls_;  // resubmit_nesting_max for each slot
  alignas(64) std::uint64_t keys_[burst_max * key_words::max];

  reserved_array<delivery> deliveries_;  // from 1
  std::uint32_t n_deliveries_ = 0;       // with those that are only noted: each can be made once
  std::uint32_t n_numbers_ = 0;          // of those that were made
  std::uint32_t first_[burst_max], last_[burst_max];  // of a packet; 0: none; or sent_bit
  std::vector<owned_packet> left_over_;
  std::size_t n_left_over_ = 0;
  std::vector<learned_values> learned_;
  std::size_t n_learned_ = 0;
};

}  // namespace coua::pipeline
