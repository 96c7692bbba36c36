// SPDX-License-Identifier: Apache-2.0
//
// bare_server PATH SWITCH: an OpenFlow server on the Unix socket PATH that does nothing for a rule
// but answer the barrier behind it: what a client, the kernel and the wake-ups between them cost,
// and so the limit of every switch. What is said before the first rule goes to the switch on the
// Unix socket SWITCH, and its answers come from there.
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { header = 8, flow_mod = 14, barrier_request = 20, barrier_reply = 21, at_once = 65536 };

static void die(const char* what) {
  perror(what);
  exit(1);
}

static int unix_socket(const char* path, struct sockaddr_un* address) {
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (made < 0 || strlen(path) >= sizeof address->sun_path) die(path);
  strcpy(address->sun_path, path);
  return made;
}

// What came from the client: barriers are answered, rules dropped, the rest is for the switch. How
// many bytes were whole messages.
static size_t answer(int client, int behind, const unsigned char* came, size_t n) {
  static unsigned char replies[at_once];
  size_t at = 0, to_say = 0;
  while (n - at >= header) {
    const unsigned char* one = came + at;
    const size_t length = (size_t)(one[2] << 8 | one[3]);
    if (length < header || n - at < length) break;
    if (one[1] == barrier_request) {
      memcpy(replies + to_say, one, header);
      replies[to_say + 1] = barrier_reply;
      to_say += header;
    } else if (one[1] != flow_mod && write(behind, one, length) < 0) {
      die("switch");
    }
    at += length;
  }
  if (to_say != 0 && write(client, replies, to_say) < 0) die("client");
  return at;
}

static void serve(int client, int behind) {
  static unsigned char came[at_once], said[at_once];
  size_t n = 0;
  for (;;) {
    struct pollfd both[] = {{client, POLLIN, 0}, {behind, POLLIN, 0}};
    if (poll(both, 2, -1) < 0) die("poll");
    if (both[0].revents != 0) {
      const ssize_t more = read(client, came + n, sizeof came - n);
      if (more <= 0) return;
      n += (size_t)more;
      const size_t done = answer(client, behind, came, n);
      memmove(came, came + done, n - done);
      n -= done;
    }
    if (both[1].revents != 0) {
      const ssize_t more = read(behind, said, sizeof said);
      if (more <= 0 || write(client, said, (size_t)more) < 0) return;
    }
  }
}

int main(int n_words, char** words) {
  if (n_words != 3) {
    fputs("usage: bare_server PATH SWITCH\n", stderr);
    return 2;
  }
  // As couad's thread: who says something is not stopped by it.
  const struct sched_param none = {0};
  (void)sched_setscheduler(0, SCHED_BATCH, &none);
  struct sockaddr_un address, of_switch;
  const int listener = unix_socket(words[1], &address);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 8) != 0)
    die(words[1]);
  for (;;) {
    const int client = accept(listener, NULL, NULL);
    const int behind = unix_socket(words[2], &of_switch);
    if (client < 0 || connect(behind, (struct sockaddr*)&of_switch, sizeof of_switch) != 0)
      die(words[2]);
    serve(client, behind);
    close(client);
    close(behind);
  }
}
