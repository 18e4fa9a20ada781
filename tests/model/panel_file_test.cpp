#include "model/panel_file.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/weights.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"

namespace smol::model {
namespace {

namespace fs = std::filesystem;
using test::TinySpec;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kHeaderBytes = 4096;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_to(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string bytes_of(const Weights& weights) {
  return {reinterpret_cast<const char*>(weights.bytes().data()), weights.bytes().size()};
}

// A model file with a panel file beside it.
class PanelFileTest : public ::testing::Test {
 protected:
  PanelFileTest() { write_model({}); }

  void write_model(TinySpec spec) {
    spec.dtype = gguf::DType::Q8_0;
    const std::vector<std::byte> bytes = test::TinyModel(spec).bytes();
    write_to(model_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  Weights load(const fs::path& panels) {
    const gguf::File file = gguf::File::open(model_);
    ThreadPool pool(2);
    return {file, ModelConfig::from_gguf(file, std::nullopt), pool, panels};
  }

  Weights load() { return load(panels_); }

  // The file is refused for this reason, the weights are those of the model, and the next load
  // finds a good file.
  void expect_refused(const std::string& reason) {
    const Weights weights = load();
    EXPECT_EQ(weights.load_report().source, LoadSource::Model);
    EXPECT_THAT(weights.load_report().warnings,
                ElementsAre(AllOf(HasSubstr(panels_.string() + ": " + reason),
                                  HasSubstr("; the model file is read"))));
    EXPECT_EQ(bytes_of(weights), bytes_of(load({})));
    EXPECT_EQ(load().load_report().source, LoadSource::Mapped);
  }

  void change_panels(const std::function<void(std::string&)>& change) {
    load();
    std::string content = content_of(panels_);
    change(content);
    write_to(panels_, content);
  }

  test::TempFolder folder_;
  fs::path model_ = folder_.path() / "model.gguf";
  fs::path panels_ = folder_.path() / "model.panels";
};

TEST_F(PanelFileTest, IsWrittenByTheFirstLoadAndMappedByTheNext) {
  const Weights first = load();
  EXPECT_EQ(first.load_report().source, LoadSource::Model);
  const Weights second = load();
  EXPECT_EQ(second.load_report().source, LoadSource::Mapped);
  EXPECT_EQ(bytes_of(second), bytes_of(first));
  EXPECT_EQ(second.load_report().bytes, first.load_report().bytes);
  EXPECT_THAT(first.load_report().warnings, IsEmpty());
  EXPECT_THAT(second.load_report().warnings, IsEmpty());
}

TEST_F(PanelFileTest, ThatLiesOnSmallPagesIsCopied) {
  TinySpec spec;
  spec.vocab_size = 80'000;  // more than the ends that may lie on small pages
  write_model(spec);
  const std::string expected = bytes_of(load());
  const std::string content = content_of(panels_);
  constexpr std::size_t kSmallPage = 4096;
  std::ofstream out(panels_, std::ios::binary);
  for (std::size_t at = 0; at < content.size(); at += kSmallPage) {
    out << content.substr(at, kSmallPage) << std::flush;
  }
  out.close();
  const Weights weights = load();
  EXPECT_EQ(weights.load_report().source, LoadSource::Read);
  EXPECT_EQ(bytes_of(weights), expected);
}

TEST_F(PanelFileTest, IsNotWrittenUnlessAskedFor) {
  EXPECT_EQ(load({}).load_report().source, LoadSource::Model);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(PanelFileTest, IsRefusedWhereverItIsCut) {
  load();
  const std::size_t size = fs::file_size(panels_);
  for (const std::size_t left : {size - 1, size - 64, kHeaderBytes + 1, kHeaderBytes}) {
    change_panels([left](std::string& content) { content.resize(left); });
    expect_refused("bytes: expected " + std::to_string(size) + ", found " + std::to_string(left));
  }
  change_panels([](std::string& content) { content += '\0'; });
  expect_refused("bytes: expected");
}

TEST_F(PanelFileTest, IsRefusedForEveryBitOfItsHeader) {
  load();
  const std::string good = content_of(panels_);
  const PanelOrigin none;
  for (std::size_t bit = 0; bit < 8UL * kHeaderBytes; bit += bit < 8UL * 64 ? 1 : 101) {
    std::string content = good;
    content[bit / 8] = static_cast<char>(content[bit / 8] ^ (1 << bit % 8));
    write_to(panels_, content);
    const bool is_magic = bit < 64;
    try {
      const PanelFile file(panels_, none);
      FAIL() << "expected an error for bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::BadInput);
      EXPECT_THAT(error.what(), HasSubstr(is_magic ? "expected a panel file, found another"
                                                   : "checksum of the header: expected"));
    }
  }
  write_to(panels_, good);
  change_panels([](std::string& content) { content[24] ^= 1; });
  expect_refused("checksum of the header: expected");
}

TEST_F(PanelFileTest, OfAnotherModelIsRefused) {
  TinySpec spec;
  spec.seed = 2;  // the same table and sizes
  const auto time = fs::last_write_time(model_);
  load();
  write_model(spec);
  fs::last_write_time(model_, time);
  expect_refused("hash of the model's tensors: expected");
  spec.d_ff = 128;
  write_model(spec);
  expect_refused("bytes of the model file: expected");
}

TEST_F(PanelFileTest, OfAModelFileThatWasWrittenSinceIsRefused) {
  load();
  std::string content = content_of(model_);
  content[content.size() - 100] ^= 1;
  write_to(model_, content);
  fs::last_write_time(model_, fs::last_write_time(model_) + std::chrono::seconds(1));
  expect_refused("time of the model file: expected");
}

TEST_F(PanelFileTest, ReplacesNoFileOfAnotherKind) {
  for (const std::string& content :
       {std::string("precious"), std::string(2 * kHeaderBytes, 'x'), content_of(model_)}) {
    write_to(panels_, content);
    const Weights weights = load();
    EXPECT_THAT(weights.load_report().warnings,
                ElementsAre(HasSubstr("expected a panel file, found another; the model file"),
                            HasSubstr("found another; no panel file is written")));
    EXPECT_EQ(content_of(panels_), content);
    EXPECT_EQ(bytes_of(weights), bytes_of(load({})));
  }
}

TEST_F(PanelFileTest, ThatCannotBeWrittenOnlyWarns) {
  const Weights weights = load(folder_.path() / "none" / "panels");
  EXPECT_THAT(weights.load_report().warnings,
              ElementsAre(AllOf(HasSubstr("none/panels"), HasSubstr("no panel file is written"))));
  EXPECT_EQ(bytes_of(weights), bytes_of(load({})));
}

TEST_F(PanelFileTest, IsReplacedWhileItIsInUse) {
  load();
  const Weights old = load();
  const std::string before = bytes_of(old);
  TinySpec spec;
  spec.seed = 2;
  write_model(spec);
  load();
  EXPECT_EQ(bytes_of(old), before);
}

TEST_F(PanelFileTest, IsReadAsItIsMapped) {
  const std::string bytes = "some bytes";
  const PanelOrigin origin{.panel_bytes = bytes.size()};
  PanelFile::write(panels_, origin, std::as_bytes(std::span(bytes)));
  const PanelFile file(panels_, origin);
  file.take_pages();
  file.give_back_pages();
  const auto mapped = file.panels();
  EXPECT_TRUE(std::ranges::equal(mapped, std::as_bytes(std::span(bytes))));
  std::vector<std::byte> out(5);
  file.read(5, out);
  EXPECT_TRUE(std::ranges::equal(out, mapped.subspan(5)));
}

// Ends the program before the file is whole: the system allows less.
void write_until_killed(const fs::path& path) {
  const rlimit less{.rlim_cur = 2 * kHeaderBytes, .rlim_max = 2 * kHeaderBytes};
  ::setrlimit(RLIMIT_FSIZE, &less);
  std::signal(SIGXFSZ, SIG_DFL);
  const std::vector<std::byte> bytes(3 * kHeaderBytes);
  PanelFile::write(path, {.panel_bytes = bytes.size()}, bytes);
}

using PanelFileDeathTest = PanelFileTest;

TEST_F(PanelFileDeathTest, IsNotThereWhenTheProgramIsKilledWhileItWrites) {
  EXPECT_EXIT(write_until_killed(panels_), ::testing::KilledBySignal(SIGXFSZ), "");
  EXPECT_FALSE(fs::exists(panels_));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2);  // and what it had begun
  load();
  EXPECT_EQ(load().load_report().source, LoadSource::Mapped);
}

}  // namespace
}  // namespace smol::model
