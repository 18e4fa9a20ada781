#include "page/assets.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <zlib.h>

#include "base/check.h"

namespace smol::page {
namespace {

constexpr std::string_view kFolder = "static/";

// FNV-1a: names contents, protects nothing.
std::uint64_t digest(std::string_view bytes, std::uint64_t before = 0xCBF29CE484222325U) {
  for (const char byte : bytes) {
    before = (before ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  return before;
}

std::string hexadecimal(std::uint64_t value) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) {
    out += "0123456789abcdef"[(value >> static_cast<unsigned>(shift)) & 15U];
  }
  return out;
}

std::string_view type_of(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes{{
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".woff2", "font/woff2"},
      {".webmanifest", "application/manifest+json"},
      {".png", "image/png"},
  }};
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) {
      return type;
    }
  }
  return "text/plain; charset=utf-8";
}

std::string packed(std::string_view bytes) {
  constexpr int kGzip = 15 + 16, kMemory = 8;
  z_stream stream{};
  SMOL_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                          Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  std::string in(bytes);  // zlib's input is not const
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): zlib's bytes are unsigned
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  stream.avail_in = static_cast<uInt>(in.size());
  stream.avail_out = static_cast<uInt>(out.size());
  SMOL_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// "gzip" among the codings that the client takes, and not refused ("gzip;q=0").
bool takes_gzip(const server::HttpRequest& request) {
  const std::string_view codings = request.headers.find("Accept-Encoding").value_or("");
  const std::size_t at = codings.find("gzip");
  return at != std::string_view::npos && !codings.substr(at).starts_with("gzip;q=0,") &&
         codings.substr(at) != "gzip;q=0";
}

}  // namespace

Assets::Assets(std::span<const WebFile> files) {
  std::uint64_t all = digest("");
  for (const WebFile& file : files) {
    if (!file.path.starts_with(kFolder)) {
      continue;
    }
    Asset asset{file.bytes, packed(file.bytes), hexadecimal(digest(file.bytes)),
                type_of(file.path)};
    if (asset.packed.size() >= asset.bytes.size()) {
      asset.packed.clear();
    }
    all = digest(file.path, digest(asset.tag, all));
    assets_.emplace(file.path.substr(kFolder.size()), std::move(asset));
  }
  version_ = hexadecimal(all);
}

server::HttpResponse Assets::get(std::string_view path, const server::HttpRequest& request) const {
  const auto found = assets_.find(path);
  if (found == assets_.end()) {
    return {404, {{"Content-Type", "text/plain; charset=utf-8"}}, "There is no such file.\n"};
  }
  const Asset& asset = found->second;
  const bool packs = !asset.packed.empty() && takes_gzip(request);
  const std::string tag = '"' + asset.tag + (packs ? "-gzip\"" : "\"");
  server::HttpResponse response;
  response.headers.add("Content-Type", asset.type);
  response.headers.add("ETag", tag);
  response.headers.add("Vary", "Accept-Encoding");
  const bool is_versioned = request.query == "v=" + version_ || path.ends_with(".woff2");
  response.headers.add("Cache-Control",
                       is_versioned ? "public, max-age=31536000, immutable" : "no-cache");
  if (request.headers.find("If-None-Match") == tag) {
    response.status = 304;
    return response;
  }
  if (packs) {
    response.headers.add("Content-Encoding", "gzip");
  }
  response.body = packs ? asset.packed : std::string(asset.bytes);
  return response;
}

}  // namespace smol::page
