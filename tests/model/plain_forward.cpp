#include "model/plain_forward.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gguf/dequantize.h"

namespace smol::model {
namespace {

using Rows = std::vector<std::vector<double>>;

class PlainModel {
 public:
  PlainModel(const gguf::File& file, const ModelConfig& config) : file_(file), config_(config) {}

  std::vector<double> run(std::span<const TokenId> ids) const;

 private:
  Rows rows(const std::string& name) const;
  Rows multiply(const Rows& x, const std::string& name) const;
  Rows norm(const Rows& x, const std::string& name) const;
  void rotate(Rows& x) const;
  Rows attend(const Rows& q, const Rows& k, const Rows& v) const;
  std::vector<double> attend_head(const Rows& q, const Rows& k, const Rows& v, std::size_t query,
                                  std::size_t head) const;
  Rows attention_block(const Rows& x, std::size_t layer) const;
  Rows ffn_block(const Rows& x, std::size_t layer) const;

  const gguf::File& file_;
  const ModelConfig& config_;
};

void add(Rows& x, const Rows& y) {
  for (std::size_t t = 0; t < x.size(); ++t) {
    std::transform(x[t].begin(), x[t].end(), y[t].begin(), x[t].begin(), std::plus<>());
  }
}

Rows PlainModel::rows(const std::string& name) const {
  const gguf::TensorView& tensor = file_.tensor(name);
  std::vector<float> row(tensor.n_cols());
  Rows all;
  for (std::size_t r = 0; r < tensor.n_rows(); ++r) {
    gguf::dequantize(tensor.dtype, tensor.bytes.subspan(r * tensor.row_bytes(), tensor.row_bytes()),
                     row);
    all.emplace_back(row.begin(), row.end());
  }
  return all;
}

Rows PlainModel::multiply(const Rows& x, const std::string& name) const {
  const Rows w = rows(name);
  Rows y;
  for (const auto& token : x) {
    std::vector<double> out;
    for (const auto& row : w) {
      double sum = 0.0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        sum += row[i] * token[i];
      }
      out.push_back(sum);
    }
    y.push_back(std::move(out));
  }
  return y;
}

Rows PlainModel::norm(const Rows& x, const std::string& name) const {
  const std::vector<double> weight = rows(name)[0];
  Rows y = x;
  for (auto& token : y) {
    double sum = 0.0;
    for (const double value : token) {
      sum += value * value;
    }
    const double root = std::sqrt(sum / static_cast<double>(token.size()) + config_.norm_eps);
    for (std::size_t i = 0; i < token.size(); ++i) {
      token[i] = token[i] / root * weight[i];
    }
  }
  return y;
}

void PlainModel::rotate(Rows& x) const {
  for (std::size_t t = 0; t < x.size(); ++t) {
    for (std::size_t pair = 0; pair < x[t].size() / 2; ++pair) {
      const double angle =
          static_cast<double>(t) * config_.rope.inv_freq[pair % (config_.head_dim / 2)];
      const double c = std::cos(angle) * config_.rope.attention_factor;
      const double s = std::sin(angle) * config_.rope.attention_factor;
      const double a = x[t][2 * pair];
      const double b = x[t][2 * pair + 1];
      x[t][2 * pair] = a * c - b * s;
      x[t][2 * pair + 1] = a * s + b * c;
    }
  }
}

std::vector<double> PlainModel::attend_head(const Rows& q, const Rows& k, const Rows& v,
                                            std::size_t query, std::size_t head) const {
  const std::size_t d = config_.head_dim;
  const std::size_t at = head / (config_.n_heads / config_.n_kv_heads) * d;
  std::vector<double> weights;
  double sum = 0.0;
  for (std::size_t p = 0; p <= query; ++p) {
    double score = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      score += q[query][head * d + i] * k[p][at + i];
    }
    weights.push_back(std::exp(score / std::sqrt(static_cast<double>(d))));
    sum += weights.back();
  }
  std::vector<double> out(d, 0.0);
  for (std::size_t p = 0; p <= query; ++p) {
    for (std::size_t i = 0; i < d; ++i) {
      out[i] += weights[p] / sum * v[p][at + i];
    }
  }
  return out;
}

Rows PlainModel::attend(const Rows& q, const Rows& k, const Rows& v) const {
  Rows out(q.size());
  for (std::size_t t = 0; t < q.size(); ++t) {
    for (std::size_t head = 0; head < config_.n_heads; ++head) {
      const std::vector<double> one = attend_head(q, k, v, t, head);
      out[t].insert(out[t].end(), one.begin(), one.end());
    }
  }
  return out;
}

Rows PlainModel::attention_block(const Rows& x, std::size_t layer) const {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  const Rows h = norm(x, prefix + "attn_norm.weight");
  Rows q = multiply(h, prefix + "attn_q.weight");
  Rows k = multiply(h, prefix + "attn_k.weight");
  const Rows v = multiply(h, prefix + "attn_v.weight");
  if (config_.architecture != "smollm3" || layer % 4 != 3) {
    rotate(q);
    rotate(k);
  }
  return multiply(attend(q, k, v), prefix + "attn_output.weight");
}

Rows PlainModel::ffn_block(const Rows& x, std::size_t layer) const {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  const Rows h = norm(x, prefix + "ffn_norm.weight");
  Rows gate = multiply(h, prefix + "ffn_gate.weight");
  const Rows up = multiply(h, prefix + "ffn_up.weight");
  for (std::size_t t = 0; t < gate.size(); ++t) {
    for (std::size_t i = 0; i < gate[t].size(); ++i) {
      gate[t][i] = gate[t][i] / (1.0 + std::exp(-gate[t][i])) * up[t][i];
    }
  }
  return multiply(gate, prefix + "ffn_down.weight");
}

std::vector<double> PlainModel::run(std::span<const TokenId> ids) const {
  const Rows embedding = rows("token_embd.weight");
  Rows x;
  for (const TokenId id : ids) {
    x.push_back(embedding[static_cast<std::size_t>(id)]);
  }
  for (std::size_t layer = 0; layer < config_.n_layers; ++layer) {
    add(x, attention_block(x, layer));
    add(x, ffn_block(x, layer));
  }
  const bool is_tied = file_.find("output.weight") == nullptr;
  const Rows logits =
      multiply(norm(x, "output_norm.weight"), is_tied ? "token_embd.weight" : "output.weight");
  std::vector<double> flat;
  for (const auto& row : logits) {
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

}  // namespace

std::vector<double> plain_forward(const gguf::File& file, const ModelConfig& config,
                                  std::span<const TokenId> ids) {
  return PlainModel(file, config).run(ids);
}

}  // namespace smol::model
