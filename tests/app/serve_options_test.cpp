#include "app/serve_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace smol::app {
namespace {

using ::testing::Contains;

TEST(AccessRules, TheAddressListenedOnMayBeNamed) {
  ServeOptions options;
  options.server.host = "127.0.0.2";
  EXPECT_THAT(access_rules(options).hosts, Contains("127.0.0.2"));
}

TEST(AccessRules, OtherMachinesNeedAKeyOrPermission) {
  ServeOptions options;
  options.server.host = "0.0.0.0";
  EXPECT_THROW(access_rules(options), Error);
  options.no_auth = true;
  EXPECT_NO_THROW(access_rules(options));
  options.no_auth = false;
  options.access.api_keys = {"secret"};
  EXPECT_NO_THROW(access_rules(options));
}

}  // namespace
}  // namespace smol::app
