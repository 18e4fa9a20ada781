// The parts of a message between our types and the table `parts`, and what is kept as JSON text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/connection.h"
#include "store/types.h"

namespace smol::store {

// Sets text, attachments, summary and answer.parts of a message whose role is known.
void read_parts(Connection& db, Message& message);
// Of a user's message or a note.
void write_input_parts(Connection& db, MessageId id, const Message& message);
// Replaces what was written before, touching only what changed. Of an answer that has ended, the
// text can be searched, and a call that has not ended has failed.
void write_answer_parts(Connection& db, MessageId id, const std::vector<Part>& parts,
                        bool has_ended);

// Answer::written as JSON text; "" for none.
std::string packed(const std::vector<std::vector<chat::Piece>>& written);
std::vector<std::vector<chat::Piece>> unpacked_written(std::string_view text);
// The same for what a person sent.
std::string packed(const UserInput& input);
UserInput unpacked_input(std::string_view text);

}  // namespace smol::store
