#include "text/tokenizer_parts.h"

namespace smol::text {
namespace {

constexpr std::size_t kReadAhead = 16;  // what Vocabulary::find_whole may read

void append_piece(const TokenizerParts& parts, std::string_view text, std::size_t begin,
                  std::size_t end, BpeScratch& scratch, std::vector<TokenId>& out) {
  const std::string_view piece = text.substr(begin, end - begin);
  const TokenId whole = parts.vocabulary.find_whole(piece, text.size() - begin >= kReadAhead);
  if (whole != kNoToken) {
    out.push_back(whole);
    return;
  }
  append_merged(parts.vocabulary, parts.merges, piece, scratch, out);
}

std::size_t append_text(const TokenizerParts& parts, std::string_view text,
                        const AddedTokenSet::Segment& segment, bool open, BpeScratch& scratch,
                        std::vector<TokenId>& out) {
  std::size_t at = segment.begin;
  while (at < segment.end) {
    const Piece piece = next_piece(parts.pre_tokenizer, text, at, segment.end);
    if (open && piece.saw_end) {
      break;
    }
    append_piece(parts, text, at, piece.end, scratch, out);
    at = piece.end;
  }
  return at;
}

}  // namespace

void mark_whole_pieces(TokenizerParts& parts, const std::vector<TokenId>& candidates) {
  BpeScratch scratch;
  std::vector<TokenId> ids;
  for (const TokenId id : candidates) {
    if (!parts.ignore_merges) {
      ids.clear();
      append_merged(parts.vocabulary, parts.merges, parts.vocabulary.bytes_of(id), scratch, ids);
      if (ids.size() != 1 || ids[0] != id) {
        continue;
      }
    }
    parts.vocabulary.mark_whole(id);
  }
}

std::size_t append_split(const TokenizerParts& parts, std::string_view text,
                         const AddedTokenSet::Split& split, bool open, std::vector<TokenId>& out) {
  BpeScratch scratch;
  std::size_t done = 0;
  for (const AddedTokenSet::Segment& segment : split.segments) {
    if (segment.id != kNoToken) {
      out.push_back(segment.id);
      done = segment.end;
      continue;
    }
    const bool is_open = open && segment.end == split.settled;
    done = append_text(parts, text, segment, is_open, scratch, out);
  }
  return done;
}

}  // namespace smol::text
