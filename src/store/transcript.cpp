#include "store/transcript.h"

#include <algorithm>

namespace smol::store {

std::vector<std::size_t> active_path(const Transcript& transcript) {
  std::vector<std::size_t> path;
  for (auto at = transcript.leaf; at; at = transcript.entries[*at].parent) {
    path.push_back(*at);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace smol::store
