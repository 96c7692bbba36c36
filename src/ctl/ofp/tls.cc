// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "ctl/ofp/ovs.h"

// Of the library's header for TLS, which is C only.
extern "C" {
void stream_ssl_set_key_and_cert(const char* private_key_file, const char* certificate_file);
void stream_ssl_set_ca_cert_file(const char* file_name, bool bootstrap);
}

// The linker makes these names: the library asks OpenSSL there what was wrong, for its log.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
unsigned long __real_ERR_get_error();
unsigned long __wrap_ERR_get_error();
}
// NOLINTEND(readability-identifier-naming)

namespace coua::ofp {
namespace {

thread_local unsigned long trouble = 0;

std::string text_of(unsigned long error) {
  const char* text = ERR_reason_error_string(error);
  return text == nullptr ? "" : text;
}

/// The library would ask the terminal for a password, of which a daemon has none.
int note_question(char* /*to*/, int /*size*/, int /*writes*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

/// What is wrong with one of the files; each is called like its field.
class tls_files_check {
 public:
  tls_files_check() : context_(SSL_CTX_new(TLS_method()), SSL_CTX_free) {
    SSL_CTX_set_default_passwd_cb(context_.get(), note_question);
    SSL_CTX_set_default_passwd_cb_userdata(context_.get(), &asked_);
  }
  ~tls_files_check() { ERR_clear_error(); }
  tls_files_check(const tls_files_check&) = delete;
  tls_files_check& operator=(const tls_files_check&) = delete;

  result<void> key(const std::string& file) {
    if (auto readable = check_readable("key", file); !readable) return readable;
    if (SSL_CTX_use_PrivateKey_file(context_.get(), file.c_str(), SSL_FILETYPE_PEM) == 1) return {};
    return refuse("key", file,
                  asked_ ? "has a password, and nobody is asked for it: give the key without one"
                         : "is no private key in PEM");
  }

  /// Behind key(). One that does not belong to it takes its place.
  result<void> certificate(const std::string& file) {
    if (auto readable = check_readable("certificate", file); !readable) return readable;
    if (SSL_CTX_use_certificate_chain_file(context_.get(), file.c_str()) == 1) return {};
    return refuse("certificate", file, "is no certificate in PEM that TLS takes" + reason());
  }

  result<void> both(const std::string& key_file, const std::string& certificate_file) {
    if (SSL_CTX_check_private_key(context_.get()) == 1) return {};
    return refuse("key", key_file, "is not the key of the certificate, " + certificate_file);
  }

  result<void> authority(const std::string& file) {
    if (auto readable = check_readable("authority", file); !readable) return readable;
    if (SSL_CTX_load_verify_locations(context_.get(), file.c_str(), nullptr) == 1) return {};
    return refuse("authority", file, "has no certificate in PEM that TLS takes" + reason());
  }

 private:
  static result<void> check_readable(const char* field, const std::string& file) {
    if (access(file.c_str(), R_OK) == 0) return {};
    return fail(errc::io, std::string(field) + ": " + file, std::strerror(errno));
  }
  static tl::unexpected<error> refuse(const char* field, const std::string& file,
                                      std::string what) {
    return fail(errc::invalid, std::string(field) + ": " + file, std::move(what));
  }
  static std::string reason() {
    const std::string text = text_of(ERR_peek_last_error());
    return text.empty() ? "" : " (" + text + ")";
  }

  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  bool asked_ = false;  // for a password
};

}  // namespace

result<void> use_tls(const std::string& key, const std::string& certificate,
                     const std::string& authority) {
  silence_library();
  tls_files_check check;
  if (auto good = check.key(key); !good) return good;
  if (auto good = check.certificate(certificate); !good) return good;
  if (auto good = check.both(key, certificate); !good) return good;
  if (auto good = check.authority(authority); !good) return good;
  stream_ssl_set_key_and_cert(key.c_str(), certificate.c_str());
  stream_ssl_set_ca_cert_file(authority.c_str(), false);
  return {};
}

std::string take_tls_trouble() {
  const unsigned long taken = std::exchange(trouble, 0);
  return taken == 0 ? "" : text_of(taken);
}

}  // namespace coua::ofp

unsigned long __wrap_ERR_get_error() {
  const unsigned long error = __real_ERR_get_error();
  if (error != 0) coua::ofp::trouble = error;
  return error;
}
