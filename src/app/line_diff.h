// Difference of two texts by lines: longest common subsequence (Hunt and McIlroy 1976's problem,
// solved by dynamic programming; the texts are chat templates).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smol::app {

// "- line" for lines only in `before`, "+ line" for lines only in `after`, in order. Texts whose
// changed middle exceeds 4,000 lines are reported as wholly different.
std::vector<std::string> line_diff(std::string_view before, std::string_view after);

}  // namespace smol::app
