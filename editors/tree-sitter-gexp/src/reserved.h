// SPDX-License-Identifier: Apache-2.0
// The reserved words; made by generate.sh of editors/words.json, compared with lang/words.h by a test.
#pragma once

static const char *const kReserved[] = {
    "analysis", "budget", "derive", "expect", "experiment", "find", "flush", "gexp", "give", "launch", "let", "memory", "meta", "param", "pattern", "plot", "record", "repeat", "require", "seed", "skip", "stage", "sweep", "timed", "transform", "use", "warm",
    "alu", "assign", "atomic", "barrier", "branch", "chase", "discard", "drain", "fence", "interleave", "keep", "kernel", "load", "loop", "signal", "stamp", "store", "unroll", "var", "wait",
    "and", "div", "mod", "not", "or", "shl", "shr", "xor",
};
