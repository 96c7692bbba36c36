/* SPDX-License-Identifier: Apache-2.0
 *
 * A program outside the tree: all that it knows of Coua is its headers and pkg-config's flags.
 */
#include <coua/classifier.h>
#include <coua/fib.h>
#include <coua/flow_table.h>
#include <coua/setsep.h>
#include <stdio.h>
#include <string.h>

static int use_flow_table(void) {
  struct coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  coua_flow_table* table = NULL;
  coua_flow_reader* reader = NULL;
  const uint64_t key[2] = {1, 2};
  uint64_t value = 42, found = 0;
  char message[200] = "";

  params.entries = 10000;
  params.timers = 1;
  if (coua_flow_create(&params, &table, message, sizeof message) != 0) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (coua_flow_reader_create(table, &reader) != 0) return 1;
  if (coua_flow_insert(table, key, &value, 4) != COUA_FLOW_ADDED) return 1;
  if (coua_flow_lookup(reader, key, &found) != 1 || found != 42) return 1;
  if (coua_flow_set_time(table, 4 * 30000) != 0) return 1;
  if (coua_flow_lookup(reader, key, &found) != 0) return 1;
  coua_flow_destroy(table);
  return 0;
}

static int use_classifier(void) {
  struct coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  coua_classifier* rules = NULL;
  coua_classifier_reader* reader = NULL;
  const uint8_t key[4] = {10, 1, 0, 0}, mask[4] = {255, 255, 0, 0}, packet[4] = {10, 1, 2, 3};
  struct coua_classifier_answer answer = {0};
  char message[200] = "";

  params.key_bytes = 4;
  if (coua_classifier_create(&params, &rules, message, sizeof message) != 0) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (coua_classifier_add(rules, key, mask, 3, 42) != COUA_CLASSIFIER_ADDED) return 1;
  if (coua_classifier_reader_create(rules, &reader) != 0) return 1;
  if (coua_classifier_lookup(reader, packet, &answer) != 1 || answer.value != 42) return 1;
  coua_classifier_destroy(rules);
  return 0;
}

static int use_setsep(void) {
  struct coua_setsep_params params = COUA_SETSEP_PARAMS_INIT;
  struct coua_setsep_replica_params how = COUA_SETSEP_REPLICA_PARAMS_INIT;
  coua_setsep_builder* from = NULL;
  coua_setsep_replica* to = NULL;
  coua_setsep_reader* reader = NULL;
  const uint32_t keys[2] = {1, 2};
  const uint16_t values[2] = {5, 6};
  uint16_t found[2] = {0, 0};
  static char snapshot[1 << 16], message[200];
  const size_t bytes = sizeof snapshot;

  params.key_bytes = sizeof keys[0];
  params.value_bits = 3;
  if (coua_setsep_builder_create(&params, keys, values, 2, &from, message, sizeof message) != 0) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (coua_setsep_snapshot_bytes(from) > bytes) return 1;
  if (coua_setsep_snapshot(from, snapshot, coua_setsep_snapshot_bytes(from)) != 0) return 1;
  if (coua_setsep_replica_create(&how, &to) != 0) return 1;
  if (coua_setsep_replica_load(to, snapshot, coua_setsep_snapshot_bytes(from), message,
                               sizeof message) != 0) {
    return 1;
  }
  if (coua_setsep_replica_reader(to, &reader) != 0) return 1;
  coua_setsep_lookup_batch(reader, keys, 2, found);
  coua_setsep_replica_destroy(to);
  coua_setsep_builder_destroy(from);
  return found[0] != 5 || found[1] != 6;
}

int main(void) {
  struct coua_fib_params params = COUA_FIB_PARAMS_INIT;
  struct coua_fib_record record = {0};
  struct coua_fib_stats stats = {0};
  const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
  char message[200] = "";
  coua_fib* fib = NULL;
  coua_fib_reader* reader = NULL;
  uint32_t entry;

  if (strcmp(coua_version(), COUA_VERSION) != 0) return 1;
  params.entries = 10000;
  stats.size = sizeof stats;
  if (coua_fib_create(&params, &fib, message, sizeof message) != 0) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (coua_fib_reader_create(fib, &reader) != 0) return 1;
  record.key = coua_fib_key(7, mac);
  record.value = 42;
  if (coua_fib_insert(fib, &record) != COUA_FIB_ADDED) return 1;
  entry = coua_fib_lookup(reader, record.key);
  if (entry == COUA_FIB_MISS || entry >> COUA_FIB_ENTRY_VALUE_SHIFT != 42) return 1;
  if (coua_fib_get_stats(fib, &stats) != 0 || stats.entries != 1) return 1;
  coua_fib_destroy(fib);
  return use_flow_table() != 0 || use_classifier() != 0 || use_setsep() != 0;
}
