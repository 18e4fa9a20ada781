// Products of panels with tokens, for one instruction set: included as panel_formats.h says, after
// it. `Ops` says what a vector is: kBytes, kWide (byte products are summed as int32, by
// add_codes(), not as int16, by multiply_codes() and join()), kFlipsSigned (products want unsigned
// codes), the operations on codes, sums and floats; and how many panels go together: kPanels, with
// kCodeRegisters for their codes.
//
// The loop order: blocks of up to 32 tokens, strips of panels, cells, the strip's panels; in a
// cell, units of codes are unpacked into registers and meet every token of the block. Float sums
// follow the canonical order: one accumulator for each row and token, cells ascending.
#pragma once

#include "kernels/panel_short_sums.h"
#include "kernels/panel_units.h"

namespace smol::kernels {
namespace {

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
  using U = Unit<Ops, Format>;
  for_unit_codes<Ops, Format, kUnit>(
      job, stage,
      [&](const UnitCodesTogether<Ops, Format>& units, std::size_t part, std::size_t column) {
        for (std::size_t t = 0; t < job.count.size(); ++t) {
          const std::int8_t* columns = job.x + t * Format::kColumns + column;
          typename Ops::Vec four[U::kGroups];
          for (std::size_t g = 0; g < U::kGroups; ++g) {
            four[g] = Ops::broadcast(columns + 4 * g);
          }
          for (std::size_t i = 0; i < U::kTogether; ++i) {
            pass_on<Ops, Format, kUnit>(job, t, part + i, units[i], four, sink);
          }
        }
      });
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

// acc = fma(dx, fma(-dmin, M, d I), acc), or acc = fma(d dx, I - 32 M, acc); short sums have their
// 32 M behind them.
template <class Ops, class Format, bool kShort>
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
      auto total = sums[part];
      if constexpr (!kShort) {
        const auto excess = multiply_pairs<Ops>(factors[panel], 8, token.sums, panel_part);
        total = Ops::template subtract_times<Format::kOffset>(total, excess);
      }
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

// 256 columns; kShort: whose sums are known to be short.
template <class Ops, class Format, bool kShort, class Count>
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
  const CellJob<Ops, Format, Count> job{cells, scales, x.codes, count, x.columns_ahead, waiting};
  if constexpr (kShort) {
    multiply_short_cell(job, x.sums, sums);
  } else {
    for (std::size_t t = 0; t < count.size(); ++t) {
      std::fill_n(sums[t], kParts<Ops>, Ops::zero());
    }
    multiply_cell(job, LargeSink<Ops, Count::kMost>{sums});
  }
  for (std::size_t t = 0; t < count.size(); ++t) {
    const CellTokens token{nullptr, x.scales + t, x.sums + 16 * t, x.joined + 8 * t, nullptr, {}};
    add_super<Ops, Format, kShort>(cells, factors, sums[t], token, acc[t]);
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
  const CellJob<Ops, Format, Count> job{cells, {}, x.codes, count, {}, waiting};
  multiply_cell(job, SmallSink<Ops, Format>{cells, x, acc});
}

// Panels that lie one after the other, against some tokens.
struct StripJob {
  const std::byte* panels;
  std::size_t panel_stride;
  std::size_t n_rows;  // of all panels
  const Activations* x;
  std::size_t first_token;
  float* y;  // of the first row and the first token
  std::size_t y_stride;

  template <class Format>
  [[nodiscard]] CellTokens tokens(std::size_t cell) const noexcept {
    const std::size_t at = cell * x->n_tokens + first_token;
    return {x->codes + at * Format::kColumns,
            x->scales + at,
            x->sums + at * (Format::kColumns / kSumBlock),
            x->joined + at * (Format::kColumns / kJoinedBlock),
            x->peaks + at,
            {}};
  }
};

// Lines of the next cell's columns that each unit of each bundle asks for. Small cells lie so close
// that the hardware asks for them.
template <class Ops, class Format>
std::size_t lines_per_unit(std::size_t n_tokens, std::size_t n_bundles) noexcept {
  constexpr std::size_t kUnits = Format::kColumns / (4 * Unit<Ops, Format>::kGroups);
  return Format::kScaled ? n_tokens * Format::kColumns / kLine / n_bundles / kUnits : 0;
}

// A bundle's share of the next cell's columns.
template <class Ops, class Format>
LinesAhead columns_ahead(const StripJob& job, std::size_t cell, std::size_t bundle,
                         std::size_t per_unit) noexcept {
  constexpr std::size_t kUnits = Format::kColumns / (4 * Unit<Ops, Format>::kGroups);
  return {job.tokens<Format>(cell + 1).codes + bundle * kUnits * per_unit * kLine, per_unit};
}

// Tokens up to which weights are read as they lie: there is little to load of the tokens.
inline constexpr std::size_t kFewTokens = 8;
// Panels that pass over the columns side by side with more: they share a cell's columns of all
// tokens while those are in the first-level cache.
inline constexpr std::size_t kStripPanels = 4;

// A bundle: the panels that go together, Ops::kPanels.
template <class Ops, class Count>
inline constexpr std::size_t kStripBundles = Count::kMost > 2 ? kStripPanels / Ops::kPanels : 1;

template <class Ops, class Format, class Count>
[[gnu::always_inline]] inline void add_cell(const Cells<Ops, Format>& cells,
                                            const CellTokens& tokens, Count count, bool is_short,
                                            typename Ops::Float (*acc)[kParts<Ops>]) noexcept {
  if constexpr (!Format::kScaled) {
    add_small_cell<Ops, Format>(cells, tokens, count, acc);
  } else if constexpr (kMayBeShort<Ops, Format, Count>) {
    if (is_short) {
      add_large_cell<Ops, Format, true>(cells, tokens, count, acc);
    } else {
      add_large_cell<Ops, Format, false>(cells, tokens, count, acc);
    }
  } else {
    add_large_cell<Ops, Format, false>(cells, tokens, count, acc);
  }
}

template <class Ops, class Count>
void store_bundle(const StripJob& job, std::size_t bundle, Count count,
                  const typename Ops::Float (*acc)[kParts<Ops>]) noexcept {
  constexpr std::size_t kRows = Ops::kPanels * kPanelRows;
  const std::size_t n_rows = std::min(kRows, job.n_rows - bundle * kRows);
  const auto store = [&](std::size_t t, float* to) {
    for (std::size_t part = 0; part < kParts<Ops>; ++part) {
      Ops::store_floats(to + part * Ops::kBytes / sizeof(float), acc[t][part]);
    }
  };
  float* y = job.y + bundle * kRows;
  for (std::size_t t = 0; t < count.size(); ++t, y += job.y_stride) {
    if (n_rows == kRows) {
      store(t, y);
    } else {
      std::array<float, kRows> rows;
      store(t, rows.data());
      std::copy_n(rows.begin(), n_rows, y);
    }
  }
}

template <class Ops, class Format, class Count>
void multiply_strip(const StripJob& job, std::size_t n_bundles, Count count) noexcept {
  typename Ops::Float acc[kStripBundles<Ops, Count>][Count::kMost][kParts<Ops>];
  for (std::size_t bundle = 0; bundle < n_bundles; ++bundle) {
    for (std::size_t t = 0; t < count.size(); ++t) {
      std::fill_n(acc[bundle][t], kParts<Ops>, Ops::zero_floats());
    }
  }
  const std::size_t per_unit = lines_per_unit<Ops, Format>(count.size(), n_bundles);
  for (std::size_t b = 0; b < job.x->n_cols / Format::kColumns; ++b) {
    CellTokens tokens = job.tokens<Format>(b);
    const bool is_short = has_short_sums<Ops, Format>(tokens.peaks, count);
    for (std::size_t bundle = 0; bundle < n_bundles; ++bundle) {
      Cells<Ops, Format> cells;
      for (std::size_t i = 0; i < Ops::kPanels; ++i) {
        const std::byte* panel = job.panels + (bundle * Ops::kPanels + i) * job.panel_stride;
        cells[i] = reinterpret_cast<const typename Format::Cell*>(panel) + b;
      }
      tokens.columns_ahead = columns_ahead<Ops, Format>(job, b, bundle, per_unit);
      add_cell<Ops, Format>(cells, tokens, count, is_short, acc[bundle]);
    }
  }
  for (std::size_t bundle = 0; bundle < n_bundles; ++bundle) {
    store_bundle<Ops>(job, bundle, count, acc[bundle]);
  }
}

// As many panels as go together, from a row on; fewer where the rows end or there are only a few
// tokens. Returns the rows that are done.
template <class Ops, class ManyOps, class Format>
std::size_t multiply_rows(StripJob job, std::size_t n_tokens) noexcept {
  const std::size_t n_panels = (job.n_rows + kPanelRows - 1) / kPanelRows;
  const auto multiply = [&](auto ops, std::size_t n_bundles, auto count) {
    using Chosen = decltype(ops);
    job.n_rows = std::min(n_bundles * Chosen::kPanels * kPanelRows, job.n_rows);
    multiply_strip<Chosen, Format>(job, n_bundles, count);
  };
  const auto bundles_of = [&](auto ops) {
    using Chosen = decltype(ops);
    const std::size_t most = n_tokens > kFewTokens ? kStripBundles<Chosen, AnyCount> : 1;
    return std::min(n_panels / Chosen::kPanels, most);
  };
  if (n_tokens == 1) {
    multiply(Ops{}, 1, FixedCount<1>{});
  } else if (n_tokens == 2) {
    multiply(Ops{}, 1, FixedCount<2>{});
  } else if (n_panels >= ManyOps::kPanels) {
    multiply(ManyOps{}, bundles_of(ManyOps{}), AnyCount{n_tokens});
  } else {
    multiply(Ops{}, bundles_of(Ops{}), AnyCount{n_tokens});
  }
  return job.n_rows;
}

template <class Ops, class ManyOps, class Format>
void multiply_panels(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                     RowRange rows) noexcept {
  const std::size_t stride = panel_bytes(w.row_bytes);
  for (std::size_t t = 0; t < x.n_tokens; t += AnyCount::kMost) {
    const std::size_t count = std::min(AnyCount::kMost, x.n_tokens - t);
    for (std::size_t r = rows.begin; r < rows.end;) {
      const StripJob job{w.data + r / kPanelRows * stride,
                         stride,
                         rows.end - r,
                         &x,
                         t,
                         y + t * y_stride + r,
                         y_stride};
      r += multiply_rows<Ops, ManyOps, Format>(job, count);
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
