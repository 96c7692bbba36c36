// SPDX-License-Identifier: Apache-2.0
//
// The C API of the classifier: checks arguments, turns errors into numbers, and keeps exceptions
// inside.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "classify/classifier.h"
#include "classify/classifier_reader.h"
#include "coua/classifier.h"
#include "lib/bytes.h"
#include "lib/errors.h"
#include "lib/kept_errno.h"
#include "lib/params.h"

struct coua_classifier {
  std::unique_ptr<coua::classifier> rules;
  std::mutex handles_mutex;
  std::vector<std::unique_ptr<coua_classifier_reader>> readers;
};

struct coua_classifier_reader {
  coua_classifier* owner;
  std::unique_ptr<coua::classifier_reader> reader;
};

namespace {

using coua::bytes;
using coua::errno_of;
using coua::kept_errno;
using coua::refuse;
using coua::take_params;

}  // namespace

extern "C" {

int coua_classifier_create(const struct coua_classifier_params* params,
                           coua_classifier** classifier, char* message, size_t message_bytes) try {
  const kept_errno kept;
  if (params == nullptr || classifier == nullptr) {
    return refuse(EINVAL, "params and classifier must not be null", message, message_bytes);
  }
  *classifier = nullptr;
  coua_classifier_params known = COUA_CLASSIFIER_PARAMS_INIT;
  const std::string wrong = take_params(*params, "coua_classifier_params",
                                        offsetof(coua_classifier_params, masks_max), known);
  if (!wrong.empty()) return refuse(EINVAL, wrong, message, message_bytes);
  auto made = coua::classifier::create(known);
  if (!made) {
    return refuse(errno_of(made.error().code), made.error().message(), message, message_bytes);
  }
  auto handle = std::make_unique<coua_classifier>();
  handle->rules = std::move(*made);
  *classifier = handle.release();
  return 0;
} catch (const std::bad_alloc&) {
  return refuse(ENOMEM, "out of memory", message, message_bytes);
} catch (...) {
  return refuse(EIO, "unexpected failure", message, message_bytes);
}

void coua_classifier_destroy(coua_classifier* classifier) {
  const kept_errno kept;
  if (classifier == nullptr) return;
  classifier->readers.clear();
  delete classifier;
}

int coua_classifier_add(coua_classifier* classifier, const void* key, const void* mask,
                        uint32_t priority, uint32_t value) try {
  const kept_errno kept;
  if (classifier == nullptr) return -EINVAL;
  return classifier->rules->add(bytes(key), bytes(mask), priority, value);
} catch (...) {
  return -ENOMEM;
}

int coua_classifier_remove(coua_classifier* classifier, const void* key, const void* mask,
                           uint32_t priority) try {
  const kept_errno kept;
  if (classifier == nullptr) return -EINVAL;
  return classifier->rules->remove(bytes(key), bytes(mask), priority);
} catch (...) {
  return -ENOMEM;
}

int coua_classifier_get(const coua_classifier* classifier, const void* key, const void* mask,
                        uint32_t priority, uint32_t* value) try {
  const kept_errno kept;
  if (classifier == nullptr) return -EINVAL;
  return classifier->rules->get(bytes(key), bytes(mask), priority, value);
} catch (...) {
  return -ENOMEM;
}

int coua_classifier_each(const coua_classifier* classifier,
                         int (*rule)(void* context, const void* key, const void* mask,
                                     uint32_t priority, uint32_t value),
                         void* context) {
  if (classifier == nullptr || rule == nullptr) return -EINVAL;
  return classifier->rules->each([&](const coua::whole_rule& one, std::uint32_t value) {
    return rule(context, one.key.words, one.mask.words, one.priority, value);
  });
}

size_t coua_classifier_reclaim(coua_classifier* classifier) try {
  const kept_errno kept;
  return classifier == nullptr ? 0 : classifier->rules->reclaim();
} catch (...) {
  return 0;
}

int coua_classifier_get_stats(const coua_classifier* classifier,
                              struct coua_classifier_stats* stats) {
  if (classifier == nullptr || stats == nullptr || stats->size == 0) return -EINVAL;
  coua_classifier_stats all{};
  classifier->rules->get_stats(all);
  all.size = stats->size;
  std::memcpy(stats, &all, std::min(stats->size, sizeof all));
  return 0;
}

int coua_classifier_get_mask(const coua_classifier* classifier, size_t index,
                             struct coua_classifier_mask* mask) {
  if (classifier == nullptr || mask == nullptr || mask->size == 0) return -EINVAL;
  coua_classifier_mask all{};
  if (!classifier->rules->get_mask(index, all)) return -ENOENT;
  all.size = mask->size;
  std::memcpy(mask, &all, std::min(mask->size, sizeof all));
  return 0;
}

int coua_classifier_reader_create(coua_classifier* classifier,
                                  coua_classifier_reader** reader) try {
  const kept_errno kept;
  if (classifier == nullptr || reader == nullptr) return -EINVAL;
  *reader = nullptr;
  auto made = coua::classifier_reader::create(*classifier->rules);
  if (!made) return -errno_of(made.error().code);
  auto handle = std::make_unique<coua_classifier_reader>();
  handle->owner = classifier;
  handle->reader = std::move(*made);
  const std::lock_guard guard(classifier->handles_mutex);
  *reader = classifier->readers.emplace_back(std::move(handle)).get();
  return 0;
} catch (...) {
  return -ENOMEM;
}

void coua_classifier_reader_destroy(coua_classifier_reader* reader) {
  const kept_errno kept;
  if (reader == nullptr) return;
  coua_classifier* owner = reader->owner;
  const std::lock_guard guard(owner->handles_mutex);
  std::erase_if(owner->readers, [&](const auto& it) { return it.get() == reader; });
}

int coua_classifier_lookup(coua_classifier_reader* reader, const void* key,
                           struct coua_classifier_answer* answer) {
  return static_cast<int>(reader->reader->lookup(bytes(key), 1, answer, nullptr));
}

size_t coua_classifier_lookup_batch(coua_classifier_reader* reader, const void* keys, size_t n,
                                    struct coua_classifier_answer* answers, uint64_t* hits) {
  return reader->reader->lookup(bytes(keys), n, answers, hits);
}

int coua_classifier_get_reader_stats(const coua_classifier_reader* reader,
                                     struct coua_classifier_reader_stats* stats) {
  if (reader == nullptr || stats == nullptr || stats->size == 0) return -EINVAL;
  coua_classifier_reader_stats all{};
  reader->reader->get_stats(all);
  all.size = stats->size;
  std::memcpy(stats, &all, std::min(stats->size, sizeof all));
  return 0;
}

}  // extern "C"
