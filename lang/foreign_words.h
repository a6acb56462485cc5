// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

/// Words of C, CUDA, PTX and papers, and what is written here instead: hints for who comes from there.
namespace gexp::lang {

/// `write …` where an operation stands: "if", "prefetch", "__syncthreads"; empty: it is no such word.
std::string foreign_operation(std::string_view word);

/// `write …` where a value is named: "threadIdx", "thread", "role".
std::string foreign_name(std::string_view word);

/// Where one of few words stands, such as a scope or a placement: `place` is what that is called (vocabulary.h, Words::what).
std::string foreign_word(std::string_view word, std::string_view place);

}  // namespace gexp::lang
