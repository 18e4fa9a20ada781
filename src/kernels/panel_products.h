// Products of panels with tokens, for one instruction set: included as panel_formats.h says, after
// it. `Ops` says what a vector is: kBytes, kWide (byte products are summed as int32, by
// add_codes(), not as int16, by multiply_codes() and join()), kFlipsSigned (products want unsigned
// codes), the operations on codes, sums and floats; and how many panels go together: kPanels, with
// kCodeRegisters for their codes.
//
// The loop order: blocks of up to 32 tokens, stretches of columns, panels, cells; in a cell, units
// of codes are unpacked into registers and meet every token of the block. Float sums follow
// the canonical order: one accumulator for each row and token, cells ascending; y keeps it between
// stretches.
#pragma once

namespace smol::kernels {
namespace {

// The vectors that make up the rows of a panel, and of all panels that go together.
template <class Ops>
inline constexpr std::size_t kPanelParts = 64 / Ops::kBytes;

template <class Ops>
inline constexpr std::size_t kParts = Ops::kPanels* kPanelParts<Ops>;

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

// The first token's share of one cell's columns; those of the other tokens follow it.
struct CellTokens {
  const std::int8_t* codes;
  const float* scales;
  const std::int16_t* sums;
  const std::int16_t* joined;
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
  typename Ops::Vec (*waiting)[kParts<Ops>];
};

// The work on a cell hides the stream of weights from the hardware's prefetcher, and a burst would
// fill its queue: each unit asks for its share of the lines.
template <class Ops, class Format, std::size_t kUnit>
[[gnu::always_inline]] inline void prefetch_ahead(const typename Format::Cell& cell,
                                                  std::size_t stage) noexcept {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kAhead = 4096;
  constexpr std::size_t kStageBytes = sizeof(cell) / Format::kStages;
  constexpr std::size_t kUnitBytes = kStageBytes / Unit<Ops, Format>::kPerStage;
  constexpr std::size_t kFirst = (kUnit * kUnitBytes + kLine - 1) / kLine * kLine;
  asm volatile("" ::: "memory");  // or the compiler gathers the prefetches of all units
  const char* bytes = reinterpret_cast<const char*>(&cell) + kAhead + stage * kStageBytes;
  for (std::size_t at = kFirst; at < (kUnit + 1) * kUnitBytes; at += kLine) {
    __builtin_prefetch(bytes + at);
  }
}

// A unit's codes for one vector of rows, and their scale.
template <class Ops, class Format>
struct UnitCodes {
  typename Ops::Vec codes[Unit<Ops, Format>::kGroups];
  typename Ops::Vec scale;
};

// One vector of a unit's products with a token's `four`: to the sink if its scale ends here.
template <class Ops, class Format, std::size_t kUnit, class Count, class Sink>
[[gnu::always_inline]] inline void pass_on(const CellJob<Ops, Format, Count>& job, std::size_t t,
                                           std::size_t part, const UnitCodes<Ops, Format>& unit,
                                           const typename Ops::Vec* four,
                                           const Sink& sink) noexcept {
  using U = Unit<Ops, Format>;
  if constexpr (Ops::kWide) {
    const auto before = sink.before(t, part);
    sink.take(t, part,
              Ops::template add_codes<Format, U::kGroups>(before, unit.codes, four, unit.scale));
  } else {
    auto sum = Ops::template multiply_codes<Format, U::kGroups>(unit.codes, four, unit.scale);
    if constexpr (U::kPerScale > 1 && kUnit % 2 == 0) {
      job.waiting[t][part] = sum;
      return;
    }
    if constexpr (U::kPerScale > 1) {
      sum = Ops::template join<Format>(job.waiting[t][part], sum, unit.scale);
    }
    sink.take(t, part, Ops::add(sink.before(t, part), sum));
  }
}

// Calls sink.take(token, part, total) with sink.before(token, part) + scale * (codes . x) over the
// columns that share a scale, when their last unit has been multiplied.
template <class Ops, class Format, std::size_t kUnit, class Count, class Sink>
[[gnu::always_inline]] inline void multiply_unit(const CellJob<Ops, Format, Count>& job,
                                                 std::size_t stage, const Sink& sink) noexcept {
  using Vec = typename Ops::Vec;
  using U = Unit<Ops, Format>;
  constexpr std::size_t kColumn = 4 * U::kGroups * kUnit;
  const std::size_t first_column = Format::kColumns / Format::kStages * stage + kColumn;
  for (const auto* cell : job.cells) {
    prefetch_ahead<Ops, Format, kUnit>(*cell, stage);
  }
  for (std::size_t part = 0; part < kParts<Ops>; part += U::kTogether) {
    UnitCodes<Ops, Format> units[U::kTogether];
    for (std::size_t i = 0; i < U::kTogether; ++i) {
      const std::size_t panel = (part + i) / kPanelParts<Ops>;
      const std::size_t panel_part = (part + i) % kPanelParts<Ops>;
      load_codes<Ops, Format, U::kGroups * kUnit>(*job.cells[panel], stage, panel_part,
                                                  units[i].codes,
                                                  std::make_index_sequence<U::kGroups>{});
      units[i].scale = Ops::unit_scale();
      if constexpr (Format::kScaled) {
        const CellScales& bytes = job.scales[panel][first_column / (4 * Format::kScaleGroups)];
        units[i].scale =
            Ops::template spread_scales<Format::kSignedScales>(bytes.data(), panel_part);
      }
    }
    for (std::size_t t = 0; t < job.count.size(); ++t) {
      const std::int8_t* columns = job.x + t * Format::kColumns + first_column;
      Vec four[U::kGroups];
      for (std::size_t g = 0; g < U::kGroups; ++g) {
        four[g] = Ops::broadcast(columns + 4 * g);
      }
      for (std::size_t i = 0; i < U::kTogether; ++i) {
        pass_on<Ops, Format, kUnit>(job, t, part + i, units[i], four, sink);
      }
    }
  }
}

template <class Ops, class Format, class Count, class Sink, std::size_t... kUnit>
[[gnu::always_inline]] inline void multiply_stage(const CellJob<Ops, Format, Count>& job,
                                                  std::size_t stage, const Sink& sink,
                                                  std::index_sequence<kUnit...>) noexcept {
  (multiply_unit<Ops, Format, kUnit>(job, stage, sink), ...);
}

template <class Ops, class Format, class Count, class Sink>
[[gnu::always_inline]] inline void multiply_cell(const CellJob<Ops, Format, Count>& job,
                                                 const Sink& sink) noexcept {
  for (std::size_t stage = 0; stage < Format::kStages; ++stage) {
    multiply_stage<Ops, Format>(job, stage, sink,
                                std::make_index_sequence<Unit<Ops, Format>::kPerStage>{});
  }
}

template <class Ops>
typename Ops::Vec multiply_pairs(const PanelFactors& factors, std::size_t n_pairs,
                                 const std::int16_t* sums, std::size_t part) noexcept {
  typename Ops::Vec total = Ops::zero();
  for (std::size_t p = 0; p < n_pairs; ++p) {
    const auto pairs = Ops::load(factors.pairs[p].data() + part * Ops::kBytes / 2);
    total = Ops::add_pairs(total, pairs, Ops::broadcast(sums + 2 * p));
  }
  return total;
}

// acc = fma(dx, fma(-dmin, M, d I), acc), or acc = fma(d dx, I - 32 M, acc).
template <class Ops, class Format>
[[gnu::always_inline]] inline void add_super(const Cells<Ops, Format>& cells,
                                             const PanelFactors (&factors)[Ops::kPanels],
                                             const typename Ops::Vec (&sums)[kParts<Ops>],
                                             const CellTokens& token,
                                             typename Ops::Float (&acc)[kParts<Ops>]) noexcept {
  const auto dx = Ops::set_float(*token.scales);
  for (std::size_t part = 0; part < kParts<Ops>; ++part) {
    const std::size_t panel = part / kPanelParts<Ops>;
    const std::size_t panel_part = part % kPanelParts<Ops>;
    const auto d = Ops::load_halves(cells[panel]->d.data(), panel_part);
    if constexpr (Format::kMinimum) {
      const auto mins = multiply_pairs<Ops>(factors[panel], 4, token.joined, panel_part);
      const auto dmin = Ops::load_halves(cells[panel]->dmin.data(), panel_part);
      auto term = Ops::multiply(d, Ops::to_float(sums[part]));
      term = Ops::subtract_product(dmin, Ops::to_float(mins), term);
      acc[part] = Ops::add_product(dx, term, acc[part]);
    } else {
      const auto excess = multiply_pairs<Ops>(factors[panel], 8, token.sums, panel_part);
      const auto total = Ops::template subtract_times<Format::kOffset>(sums[part], excess);
      acc[part] = Ops::add_product(Ops::multiply(d, dx), Ops::to_float(total), acc[part]);
    }
  }
}

// Integer sums over a whole cell.
template <class Ops, std::size_t kTokens>
struct LargeSink {
  SumsOf<Ops, kTokens>& sums;

  typename Ops::Vec before(std::size_t t, std::size_t part) const noexcept { return sums[t][part]; }

  void take(std::size_t t, std::size_t part, typename Ops::Vec total) const noexcept {
    sums[t][part] = total;
  }
};

// 256 columns.
template <class Ops, class Format, class Count>
[[gnu::always_inline]] inline void add_large_cell(
    const Cells<Ops, Format>& cells, const CellTokens& x, Count count,
    typename Ops::Float (*acc)[kParts<Ops>]) noexcept {
  PanelFactors factors[Ops::kPanels];
  std::array<const CellScales*, Ops::kPanels> scales;
  for (std::size_t panel = 0; panel < Ops::kPanels; ++panel) {
    scales[panel] = Ops::unpack_factors(*cells[panel], factors[panel]);
  }
  SumsOf<Ops, Count::kMost> waiting;
  SumsOf<Ops, Count::kMost> sums;
  for (std::size_t t = 0; t < count.size(); ++t) {
    for (std::size_t part = 0; part < kParts<Ops>; ++part) {
      sums[t][part] = Ops::zero();
    }
  }
  const CellJob<Ops, Format, Count> job{cells, scales, x.codes, count, waiting};
  multiply_cell(job, LargeSink<Ops, Count::kMost>{sums});
  for (std::size_t t = 0; t < count.size(); ++t) {
    const CellTokens token{nullptr, x.scales + t, x.sums + 16 * t, x.joined + 8 * t};
    add_super<Ops, Format>(cells, factors, sums[t], token, acc[t]);
  }
}

// 32 columns: acc = fma(d dx, I, acc), then acc = fma(m dx, S, acc).
template <class Ops, class Format>
struct SmallSink {
  static constexpr int kOffset = Format::kSigned && Ops::kFlipsSigned ? 128 : Format::kOffset;

  const Cells<Ops, Format>& cells;
  const CellTokens& x;
  typename Ops::Float (*acc)[kParts<Ops>];

  typename Ops::Vec before(std::size_t /*t*/, std::size_t /*part*/) const noexcept {
    return Ops::zero();
  }

  [[gnu::always_inline]] void take(std::size_t t, std::size_t part,
                                   typename Ops::Vec total) const noexcept {
    const auto& cell = *cells[part / kPanelParts<Ops>];
    const std::size_t panel_part = part % kPanelParts<Ops>;
    const int x_sum = x.joined[t];
    if constexpr (kOffset != 0) {
      total = Ops::subtract(total, Ops::set_int(kOffset * x_sum));
    }
    const auto dx = Ops::set_float(x.scales[t]);
    const auto d = Ops::multiply(Ops::load_halves(cell.d.data(), panel_part), dx);
    acc[t][part] = Ops::add_product(d, Ops::to_float(total), acc[t][part]);
    if constexpr (Format::kMinimum) {
      const auto m = Ops::multiply(Ops::load_halves(cell.m.data(), panel_part), dx);
      acc[t][part] = Ops::add_product(m, Ops::set_float(static_cast<float>(x_sum)), acc[t][part]);
    }
  }
};

template <class Ops, class Format, class Count>
[[gnu::always_inline]] inline void add_small_cell(
    const Cells<Ops, Format>& cells, const CellTokens& x, Count count,
    typename Ops::Float (*acc)[kParts<Ops>]) noexcept {
  SumsOf<Ops, Count::kMost> waiting;
  const CellJob<Ops, Format, Count> job{cells, {}, x.codes, count, waiting};
  multiply_cell(job, SmallSink<Ops, Format>{cells, x, acc});
}

// Cells of Ops::kPanels panels against tokens [first_token, first_token + count).
struct PanelJob {
  const std::byte* panel;  // the first; the others follow
  std::size_t panel_stride;
  std::size_t first_cell, last_cell;
  std::size_t n_rows;  // 1 to 16 of the last panel, and all of those before
  const Activations* x;
  std::size_t first_token;
  float* y;  // of the panel's first row and the first token
  std::size_t y_stride;
};

template <class Ops, class Format, class Count>
void multiply_panel(const PanelJob& job, Count count) noexcept {
  using Cell = typename Format::Cell;
  const Activations& x = *job.x;
  typename Ops::Float acc[Count::kMost][kParts<Ops>];
  for (std::size_t t = 0; t < count.size(); ++t) {
    std::array<float, Ops::kPanels * kPanelRows> rows{};
    if (job.first_cell > 0) {
      std::copy_n(job.y + t * job.y_stride, job.n_rows, rows.begin());
    }
    for (std::size_t part = 0; part < kParts<Ops>; ++part) {
      acc[t][part] = Ops::load_floats(rows.data() + part * Ops::kBytes / sizeof(float));
    }
  }
  for (std::size_t b = job.first_cell; b < job.last_cell; ++b) {
    Cells<Ops, Format> cells;
    for (std::size_t panel = 0; panel < Ops::kPanels; ++panel) {
      cells[panel] = reinterpret_cast<const Cell*>(job.panel + panel * job.panel_stride) + b;
    }
    const std::size_t at = b * x.n_tokens + job.first_token;
    const CellTokens tokens{x.codes + at * Format::kColumns, x.scales + at,
                            x.sums + at * (Format::kColumns / kSumBlock),
                            x.joined + at * (Format::kColumns / kJoinedBlock)};
    if constexpr (Format::kScaled) {
      add_large_cell<Ops, Format>(cells, tokens, count, acc);
    } else {
      add_small_cell<Ops, Format>(cells, tokens, count, acc);
    }
  }
  for (std::size_t t = 0; t < count.size(); ++t) {
    std::array<float, Ops::kPanels * kPanelRows> rows;
    for (std::size_t part = 0; part < kParts<Ops>; ++part) {
      Ops::store_floats(rows.data() + part * Ops::kBytes / sizeof(float), acc[t][part]);
    }
    std::copy_n(rows.begin(), job.n_rows, job.y + t * job.y_stride);
  }
}

// As many panels as go together, from a row on; fewer where the rows end or there are only one or
// two tokens. Returns the rows that are done.
template <class Ops, class ManyOps, class Format>
std::size_t multiply_rows(PanelJob job, std::size_t n_tokens, std::size_t n_rows) noexcept {
  const bool together = n_tokens > 2 && n_rows > (ManyOps::kPanels - 1) * kPanelRows;
  job.n_rows = std::min((together ? ManyOps::kPanels : Ops::kPanels) * kPanelRows, n_rows);
  if (n_tokens == 1) {
    multiply_panel<Ops, Format>(job, FixedCount<1>{});
  } else if (n_tokens == 2) {
    multiply_panel<Ops, Format>(job, FixedCount<2>{});
  } else if (together) {
    multiply_panel<ManyOps, Format>(job, AnyCount{n_tokens});
  } else {
    multiply_panel<Ops, Format>(job, AnyCount{n_tokens});
  }
  return job.n_rows;
}

template <class Ops, class ManyOps, class Format>
void multiply_panels(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                     RowRange rows) noexcept {
  // The columns of a block of tokens stay in the second-level cache while the panels pass; with few
  // tokens there is little to keep, and the weights are read as they lie.
  constexpr std::size_t kFewTokens = 8;
  constexpr std::size_t kStretch = 2048 / Format::kColumns;
  const std::size_t n_cells = x.n_cols / Format::kColumns;
  const std::size_t stretch = x.n_tokens <= kFewTokens ? n_cells : kStretch;
  const std::size_t stride = panel_bytes(w.row_bytes);
  for (std::size_t t = 0; t < x.n_tokens; t += AnyCount::kMost) {
    const std::size_t count = std::min(AnyCount::kMost, x.n_tokens - t);
    for (std::size_t cell = 0; cell < n_cells; cell += stretch) {
      for (std::size_t r = rows.begin; r < rows.end;) {
        const PanelJob job{w.data + r / kPanelRows * stride,
                           stride,
                           cell,
                           std::min(cell + stretch, n_cells),
                           0,
                           &x,
                           t,
                           y + t * y_stride + r,
                           y_stride};
        r += multiply_rows<Ops, ManyOps, Format>(job, count, rows.end - r);
      }
    }
  }
}

// `ManyOps`: of the same set, for three and more tokens.
template <class Ops, class ManyOps = Ops>
MatMul panel_products(gguf::DType weights) noexcept {
  using gguf::DType;
  switch (weights) {
    case DType::Q4_K:
      return multiply_panels<Ops, ManyOps, Q4KFormat>;
    case DType::Q6_K:
      return multiply_panels<Ops, ManyOps, Q6KFormat>;
    case DType::Q8_0:
      return multiply_panels<Ops, ManyOps, Q80Format>;
    case DType::Q4_0:
      return multiply_panels<Ops, ManyOps, Q40Format>;
    case DType::Q4_1:
      return multiply_panels<Ops, ManyOps, Q41Format>;
    case DType::Q5_0:
      return multiply_panels<Ops, ManyOps, Q50Format>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace smol::kernels
