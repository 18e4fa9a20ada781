// A panel's codes as registers hold them while tokens pass: included by panel_products.h.
#pragma once

namespace smol::kernels {
namespace {

// The vectors that make up the rows of a panel, and of all panels that go together.
template <class Ops>
inline constexpr std::size_t kPanelParts = 64 / Ops::kBytes;

template <class Ops>
inline constexpr std::size_t kParts = Ops::kPanels* kPanelParts<Ops>;

inline constexpr std::size_t kLine = 64;  // bytes of the cache

// How many tokens are multiplied at once: known when compiling, so that sums stay in registers, or
// not.
template <std::size_t kCount>
struct FixedCount {
  static constexpr std::size_t kMost = kCount;

  constexpr std::size_t size() const noexcept { return kCount; }
};

struct AnyCount {
  static constexpr std::size_t kMost = 32;
  std::size_t count;

  std::size_t size() const noexcept { return count; }
};

// Lines that will be read soon, a share of which each unit asks for.
struct LinesAhead {
  const std::int8_t* first;
  std::size_t per_unit;
};

// The first token's share of one cell's columns; those of the other tokens follow it.
struct CellTokens {
  const std::int8_t* codes;
  const float* scales;
  const std::int16_t* sums;
  const std::int16_t* joined;
  const std::int16_t* peaks;
  LinesAhead columns_ahead;
};

template <class Ops, class Format>
struct Unit {
  // As int16 the sums of four groups are all that fits every format.
  static constexpr std::size_t kGroups = Ops::kWide ? Format::kScaleGroups : 4;
  static constexpr std::size_t kTogether = std::min(kParts<Ops>, Ops::kCodeRegisters / kGroups);
  static constexpr std::size_t kPerStage = Format::kColumns / Format::kStages / 4 / kGroups;
  // One or two units share a scale, and with it the sum that leaves the integers of a unit.
  static constexpr std::size_t kPerScale = Format::kScaleGroups / kGroups;
};

template <class Ops, std::size_t kTokens>
using SumsOf = typename Ops::Vec[kTokens][kParts<Ops>];

template <class Ops, class Format, std::size_t kFirst, std::size_t... kIndex>
[[gnu::always_inline]] inline void load_codes(const typename Format::Cell& cell, std::size_t stage,
                                              std::size_t part, typename Ops::Vec* out,
                                              std::index_sequence<kIndex...>) noexcept {
  ((out[kIndex] = Format::template codes<Ops, kFirst + kIndex>(cell, stage, part)), ...);
}

// The cell of each panel.
template <class Ops, class Format>
using Cells = std::array<const typename Format::Cell*, Ops::kPanels>;

// What cells are multiplied with, and where the sums of a first unit wait for its second.
template <class Ops, class Format, class Count>
struct CellJob {
  const Cells<Ops, Format>& cells;
  std::array<const CellScales*, Ops::kPanels> scales;  // null where there are none
  const std::int8_t* x;
  Count count;
  LinesAhead columns_ahead;
  typename Ops::Vec (*waiting)[kParts<Ops>];
};

inline void prefetch_columns(const LinesAhead& ahead, std::size_t unit) noexcept {
  const std::int8_t* share = ahead.first + unit * ahead.per_unit * kLine;
  for (std::size_t line = 0; line < ahead.per_unit; ++line) {
    __builtin_prefetch(share + line * kLine);
  }
}

// The work on a cell hides the stream of weights from the hardware's prefetcher, and a burst would
// fill its queue: each unit asks for its share of the lines. Where reading them takes the time,
// they come from memory into the second-level cache, which can wait for more of them than the
// first, and from there once more.
template <class Ops, class Format, std::size_t kUnit, class Count>
[[gnu::always_inline]] inline void prefetch_ahead(const typename Format::Cell& cell,
                                                  std::size_t stage, Count /*tokens*/) noexcept {
  constexpr std::size_t kKiB = 1024;
  constexpr std::size_t kFar = 12 * kKiB;
  constexpr std::size_t kNear = (Count::kMost > 2 ? 4 : 2) * kKiB;
  constexpr int kSecondLevel = 2;
  constexpr std::size_t kStageBytes = sizeof(cell) / Format::kStages;
  constexpr std::size_t kUnitBytes = kStageBytes / Unit<Ops, Format>::kPerStage;
  constexpr std::size_t kFirst = (kUnit * kUnitBytes + kLine - 1) / kLine * kLine;
  asm volatile("" ::: "memory");  // or the compiler gathers the prefetches of all units
  const char* bytes = reinterpret_cast<const char*>(&cell) + stage * kStageBytes;
  for (std::size_t at = kFirst; at < (kUnit + 1) * kUnitBytes; at += kLine) {
    if constexpr (Count::kMost <= 2) {
      __builtin_prefetch(bytes + at + kFar, 0, kSecondLevel);
    }
    __builtin_prefetch(bytes + at + kNear);
  }
}

// A unit's codes for one vector of rows, and their scale.
template <class Ops, class Format>
struct UnitCodes {
  typename Ops::Vec codes[Unit<Ops, Format>::kGroups];
  typename Ops::Vec scale;
};

template <class Ops, class Format>
using UnitCodesTogether = UnitCodes<Ops, Format>[Unit<Ops, Format>::kTogether];

// Calls body(units, part, column) for each so many vectors of rows as go together, the first of
// them `part`, with a unit's codes in registers; `column`: the unit's first, of the cell.
template <class Ops, class Format, std::size_t kUnit, class Count, class Body>
[[gnu::always_inline]] inline void for_unit_codes(const CellJob<Ops, Format, Count>& job,
                                                  std::size_t stage, const Body& body) noexcept {
  using U = Unit<Ops, Format>;
  constexpr std::size_t kColumn = 4 * U::kGroups * kUnit;
  const std::size_t column = Format::kColumns / Format::kStages * stage + kColumn;
  for (const auto* cell : job.cells) {
    prefetch_ahead<Ops, Format, kUnit>(*cell, stage, job.count);
  }
  prefetch_columns(job.columns_ahead, column / (4 * U::kGroups));
  for (std::size_t part = 0; part < kParts<Ops>; part += U::kTogether) {
    UnitCodesTogether<Ops, Format> units;
    for (std::size_t i = 0; i < U::kTogether; ++i) {
      const std::size_t panel = (part + i) / kPanelParts<Ops>;
      const std::size_t panel_part = (part + i) % kPanelParts<Ops>;
      load_codes<Ops, Format, U::kGroups * kUnit>(*job.cells[panel], stage, panel_part,
                                                  units[i].codes,
                                                  std::make_index_sequence<U::kGroups>{});
      units[i].scale = Ops::unit_scale();
      if constexpr (Format::kScaled) {
        const CellScales& bytes = job.scales[panel][column / (4 * Format::kScaleGroups)];
        units[i].scale =
            Ops::template spread_scales<Format::kSignedScales>(bytes.data(), panel_part);
      }
    }
    body(units, part, column);
  }
}

}  // namespace
}  // namespace smol::kernels
