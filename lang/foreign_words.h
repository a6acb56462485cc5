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

/// The instruction of `alu` that is meant by one of the machine or a function of C: "fma.f32" for "FFMA", "ex2.f32" for "exp2".
std::string foreign_instruction(std::string_view name);

/// Where one of few words stands, such as a scope or a placement: `place` is what that is called (vocabulary.h, Words::what).
std::string foreign_word(std::string_view word, std::string_view place);

}  // namespace gexp::lang
