// What a server reads before anybody asks: the beginning that all conversations share. It is kept
// on disk from one run to the next.
#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <vector>

#include "base/ids.h"
#include "chat/prompt_builder.h"
#include "engine/engine.h"

namespace smol::app {

// What prompts begin with, whatever the user writes: one for each way to think, none twice. Empty
// where the template takes no message of a user alone.
std::vector<std::vector<TokenId>> shared_beginnings(const chat::PromptBuilder& builder);

// Brings back what `file` holds and reads what of `prompts` is not there; a stop ends that early. A
// file that is of no use is said on standard error. Throws Error{Device}.
void read_ahead(engine::Engine& engine, std::span<const std::vector<TokenId>> prompts,
                const std::filesystem::path& file, const std::stop_token& stop);

// Writes the file anew: with what is kept of `prompts`, and of the API's clients where
// wish.nobodys says so. What fails is said on standard error.
void keep_for_next_run(engine::Engine& engine, std::span<const std::vector<TokenId>> prompts,
                       const std::filesystem::path& file, engine::CacheWish wish = {});

}  // namespace smol::app
