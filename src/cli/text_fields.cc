// SPDX-License-Identifier: Apache-2.0
#include "cli/text_fields.h"

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "base/utf8.h"

namespace coua::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

result<void> check_text(const FieldDescriptor& field, const std::string& text) {
  if (is_utf8(text)) return {};
  return fail(errc::invalid, field.name(), "the text is not UTF-8");
}

/// `index` is -1 where there is one value only.
result<void> check_one(const Message& of, const FieldDescriptor& field, int index) {
  const auto& reader = *of.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return check_texts(index < 0 ? reader.GetMessage(of, &field)
                                 : reader.GetRepeatedMessage(of, &field, index));
  }
  if (field.type() != FieldDescriptor::TYPE_STRING) return {};
  return check_text(field, index < 0 ? reader.GetString(of, &field)
                                     : reader.GetRepeatedString(of, &field, index));
}

}  // namespace

result<void> check_texts(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (!field->is_repeated()) {
      if (auto good = check_one(message, *field, -1); !good) return good;
      continue;
    }
    const int n = message.GetReflection()->FieldSize(message, field);
    for (int i = 0; i < n; ++i)
      if (auto good = check_one(message, *field, i); !good) return good;
  }
  return {};
}

}  // namespace coua::cli
