/* SPDX-License-Identifier: Apache-2.0
 *
 * A program outside the tree: all that it knows of Coua is <coua/fib.h> and pkg-config's flags.
 */
#include <coua/fib.h>
#include <stdio.h>

int main(void) {
  struct coua_fib_params params = COUA_FIB_PARAMS_INIT;
  struct coua_fib_record record = {0};
  struct coua_fib_stats stats = {0};
  const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
  char message[200] = "";
  coua_fib* fib = NULL;
  coua_fib_reader* reader = NULL;
  uint32_t entry;

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
  return 0;
}
