// What holds an answer to a form: which tokens may come next, and which must.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/ids.h"

namespace smol::engine {

// One answer; the engine's thread. Its answers depend on the accepted tokens alone, so that they
// are the same however tokens are grouped into steps.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  // The token that must come next; it goes through the model but no random number is drawn for it.
  virtual std::optional<TokenId> forced() = 0;
  // Bit t of word t / 64: token t may come next. Empty: all may. Valid until the next call of a
  // member. `tokens_left`: tokens, this one included, that the answer can still take. At least one
  // bit is set. Throws Error, which ends the answer.
  virtual std::span<const std::uint64_t> mask(std::size_t tokens_left) = 0;
  // A token that was forced, or picked among those of the mask; never one that ends the turn.
  virtual void accept(TokenId token) = 0;
  // The form is complete: nothing but the end of the turn may follow what was accepted.
  virtual bool must_end() const = 0;
};

}  // namespace smol::engine
