// SPDX-License-Identifier: Apache-2.0
#include "message_filler.h"

#include <google/protobuf/descriptor.h>

#include <array>
#include <limits>
#include <string>

namespace coua::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr unsigned repeated_most = 5;

std::uint64_t take_number(input& from) {
  constexpr std::array<std::uint64_t, 14> interesting = {
      0,    1,    2,      6,      10,        64,         300,
      4094, 4095, 65'535, 65'536, 1'000'000, 0xffffffff, std::numeric_limits<std::uint64_t>::max()};
  const auto choice = from.take<std::uint8_t>();
  if (choice < 64) return interesting[choice % interesting.size()];
  if (choice < 128) return from.take<std::uint16_t>();
  return from.take<std::uint64_t>();
}

/// One of the words, two of them in lines, or bytes.
std::string take_bytes(input& from, std::span<const std::string_view> words) {
  const auto choice = from.take<std::uint8_t>();
  if (choice < 128) return std::string(words[choice % words.size()]);
  std::string made;
  if (choice < 160) {
    for (unsigned i = 0; i < 2; ++i)
      made.append(words[from.take<std::uint8_t>() % words.size()]) += '\n';
    return made;
  }
  for (unsigned n = choice % 32; n > 0; --n) made += static_cast<char>(from.take<std::uint8_t>());
  return made;
}

/// ASCII: what is no UTF-8 does not get through gRPC, which answers it alone.
std::string take_text(input& from, std::span<const std::string_view> words) {
  std::string made = take_bytes(from, words);
  for (char& each : made) each = static_cast<char>(each & 0x7f);
  return made;
}

/// Sets the field, or adds an element to it.
void put(Message& message, const FieldDescriptor& field, input& from,
         std::span<const std::string_view> words) {
  const Reflection& to = *message.GetReflection();
  const bool many = field.is_repeated();
  const auto number = [&](auto set, auto add, auto value) {
    (to.*(many ? add : set))(&message, &field, value);
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return number(&Reflection::SetBool, &Reflection::AddBool, (take_number(from) & 1) != 0);
    case FieldDescriptor::CPPTYPE_INT32:
      return number(&Reflection::SetInt32, &Reflection::AddInt32,
                    static_cast<std::int32_t>(take_number(from)));
    case FieldDescriptor::CPPTYPE_INT64:
      return number(&Reflection::SetInt64, &Reflection::AddInt64,
                    static_cast<std::int64_t>(take_number(from)));
    case FieldDescriptor::CPPTYPE_UINT32:
      return number(&Reflection::SetUInt32, &Reflection::AddUInt32,
                    static_cast<std::uint32_t>(take_number(from)));
    case FieldDescriptor::CPPTYPE_UINT64:
      return number(&Reflection::SetUInt64, &Reflection::AddUInt64, take_number(from));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return number(&Reflection::SetFloat, &Reflection::AddFloat, from.take<float>());
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number(&Reflection::SetDouble, &Reflection::AddDouble, from.take<double>());
    case FieldDescriptor::CPPTYPE_ENUM:
      return number(&Reflection::SetEnumValue, &Reflection::AddEnumValue,
                    static_cast<int>(from.take<std::uint8_t>() % 8));
    case FieldDescriptor::CPPTYPE_STRING:
      return number(&Reflection::SetString, &Reflection::AddString,
                    field.type() == FieldDescriptor::TYPE_STRING ? take_text(from, words)
                                                                 : take_bytes(from, words));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return fill(many ? *to.AddMessage(&message, &field) : *to.MutableMessage(&message, &field),
                  from, words);
  }
}

}  // namespace

void fill(Message& message, input& from, std::span<const std::string_view> words) {
  const auto& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count() && !from.empty(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    unsigned n = from.take<std::uint8_t>() % (field.is_repeated() ? repeated_most : 4);
    if (!field.is_repeated() && n > 1) n = 1;  // three times of four
    for (; n > 0 && !from.empty(); --n) put(message, field, from, words);
  }
}

}  // namespace coua::fuzz
