// SPDX-License-Identifier: Apache-2.0
//
// Files for TLS that are refused. Connections are in tests/packet/test_tls.py.
#include "ctl/ofp/tls.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace coua::ofp {
namespace {

struct close_file {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
struct free_key {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct free_certificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, free_key>;

class files_for_tls : public testing::Test {
 protected:
  files_for_tls() { std::filesystem::create_directory(folder_); }
  ~files_for_tls() override { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    const key_ptr key(EVP_EC_gen("P-256")), other(EVP_EC_gen("P-256")), rsa(EVP_RSA_gen(2048));
    ASSERT_TRUE(key && other && rsa);
    write_key("key", *key);
    write_key("other.key", *other);
    write_key("rsa.key", *rsa);
    write_key("locked.key", *key, "secret");
    write_certificate("pem", *key);
    std::ofstream(path("text")) << "no PEM at all\n";
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write_key(const std::string& name, EVP_PKEY& key, const char* password = nullptr) const {
    const std::unique_ptr<std::FILE, close_file> to(std::fopen(path(name).c_str(), "w"));
    ASSERT_TRUE(to);
    ASSERT_EQ(
        PEM_write_PrivateKey(to.get(), &key, password != nullptr ? EVP_aes_128_cbc() : nullptr,
                             nullptr, 0, nullptr, const_cast<char*>(password)),
        1);
  }
  void write_certificate(const std::string& name, EVP_PKEY& key) const {
    const std::unique_ptr<X509, free_certificate> made(X509_new());
    ASSERT_TRUE(made && X509_gmtime_adj(X509_getm_notBefore(made.get()), 0) != nullptr &&
                X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600) != nullptr &&
                X509_set_pubkey(made.get(), &key) == 1 &&
                X509_sign(made.get(), &key, EVP_sha256()) > 0);
    const std::unique_ptr<std::FILE, close_file> to(std::fopen(path(name).c_str(), "w"));
    ASSERT_TRUE(to);
    ASSERT_EQ(PEM_write_X509(to.get(), made.get()), 1);
  }

  /// The error, without the folder.
  std::string refused(const std::string& key, const std::string& certificate,
                      const std::string& authority) const {
    const auto used = use_tls(path(key), path(certificate), path(authority));
    std::string text = used ? "" : used.error().message();
    for (std::size_t at; (at = text.find(folder_ + "/")) != std::string::npos;)
      text.erase(at, folder_.size() + 1);
    return text;
  }

  const std::string folder_ = testing::TempDir() + "tls_test." + std::to_string(getpid());
};

// Red while a file counts as good when it can be read.
TEST_F(files_for_tls, are_refused_when_they_are_something_else) {
  EXPECT_EQ(refused("text", "pem", "pem"), "key: text: is no private key in PEM");
  EXPECT_EQ(refused("pem", "pem", "pem"), "key: pem: is no private key in PEM");
  EXPECT_TRUE(refused("key", "text", "pem")
                  .starts_with("certificate: text: is no certificate in PEM that TLS takes"));
  EXPECT_TRUE(refused("key", "key", "pem").starts_with("certificate: key: is no certificate"));
  EXPECT_TRUE(refused("key", "pem", "text")
                  .starts_with("authority: text: has no certificate in PEM that TLS takes"));
  EXPECT_EQ(refused("none", "pem", "pem"), "key: none: No such file or directory");
  EXPECT_EQ(refused("key", "pem", "none"), "authority: none: No such file or directory");
}

TEST_F(files_for_tls, are_refused_when_they_do_not_belong_together) {
  for (const char* key : {"other.key", "rsa.key"})
    EXPECT_EQ(refused(key, "pem", "pem"),
              "key: " + std::string(key) + ": is not the key of the certificate, pem");
}

// Red when the terminal is asked: nobody is there.
TEST_F(files_for_tls, have_no_password) {
  EXPECT_EQ(
      refused("locked.key", "pem", "pem"),
      "key: locked.key: has a password, and nobody is asked for it: give the key without one");
}

TEST_F(files_for_tls, are_used) {
  EXPECT_EQ(refused("text", "pem", "pem"), "key: text: is no private key in PEM");
  EXPECT_EQ(refused("key", "pem", "pem"), "");
  EXPECT_EQ(take_tls_trouble(), "");
}

}  // namespace
}  // namespace coua::ofp
