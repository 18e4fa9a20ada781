#include "base/utf8.h"

#include <array>

namespace smol::utf8 {
namespace {

struct Lead {
  unsigned char last;        // of the bytes that this entry describes
  std::size_t length;        // bytes of the sequence; 0: no lead byte
  unsigned char second_min;  // range of the second byte (table 3-7)
  unsigned char second_max;
};

constexpr std::array<Lead, 11> kLeads{{{0x7F, 1, 0, 0},
                                       {0xC1, 0, 0, 0},
                                       {0xDF, 2, 0x80, 0xBF},
                                       {0xE0, 3, 0xA0, 0xBF},
                                       {0xEC, 3, 0x80, 0xBF},
                                       {0xED, 3, 0x80, 0x9F},
                                       {0xEF, 3, 0x80, 0xBF},
                                       {0xF0, 4, 0x90, 0xBF},
                                       {0xF3, 4, 0x80, 0xBF},
                                       {0xF4, 4, 0x80, 0x8F},
                                       {0xFF, 0, 0, 0}}};

const Lead& classify(unsigned char byte) noexcept {
  std::size_t i = 0;
  while (kLeads[i].last < byte) {
    ++i;
  }
  return kLeads[i];
}

}  // namespace

Step next(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Lead& lead = classify(byte(0));
  if (lead.length == 0) {
    return {Step::Kind::Invalid, kReplacement, 1};
  }
  if (lead.length == 1) {
    return {Step::Kind::Character, byte(0), 1};
  }
  char32_t code_point = byte(0) & (0xFFU >> (lead.length + 1));
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) {
      return {Step::Kind::Incomplete, kReplacement, i};
    }
    const unsigned char min = i == 1 ? lead.second_min : 0x80;
    const unsigned char max = i == 1 ? lead.second_max : 0xBF;
    if (byte(i) < min || byte(i) > max) {
      return {Step::Kind::Invalid, kReplacement, i};
    }
    code_point = (code_point << 6U) | (byte(i) & 0x3FU);
  }
  return {Step::Kind::Character, code_point, lead.length};
}

bool is_valid(std::string_view text) noexcept {
  while (!text.empty()) {
    const Step step = next(text);
    if (step.kind != Step::Kind::Character) {
      return false;
    }
    text.remove_prefix(step.length);
  }
  return true;
}

void append(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0U | (code_point >> 6U));
    put(0x80U | (code_point & 0x3FU));
  } else if (code_point < 0x10000) {
    put(0xE0U | (code_point >> 12U));
    put(0x80U | ((code_point >> 6U) & 0x3FU));
    put(0x80U | (code_point & 0x3FU));
  } else {
    put(0xF0U | (code_point >> 18U));
    put(0x80U | ((code_point >> 12U) & 0x3FU));
    put(0x80U | ((code_point >> 6U) & 0x3FU));
    put(0x80U | (code_point & 0x3FU));
  }
}

std::string to_valid(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Step step = next(text);
    if (step.kind == Step::Kind::Character) {
      out.append(text.substr(0, step.length));
    } else {
      append(out, kReplacement);
    }
    text.remove_prefix(step.length);
  }
  return out;
}

std::size_t length(std::string_view text) noexcept {
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(next(text).length);
    ++count;
  }
  return count;
}

}  // namespace smol::utf8
