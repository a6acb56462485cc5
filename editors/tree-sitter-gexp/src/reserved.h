// SPDX-License-Identifier: Apache-2.0
// The reserved words, as in lang/words.h; a test compares them.
#pragma once

static const char *const kReserved[] = {
    "use",    "meta",   "param",  "let",    "require", "budget", "seed",    "memory", "pattern", "stage",  "sweep",      "skip", "launch",
    "flush",  "warm",   "timed",  "repeat", "record",  "derive", "find",    "expect", "plot",    "gexp",   "experiment", "chase", "load",
    "store",  "alu",    "barrier", "branch", "unroll", "loop",   "and",     "or",     "not",     "div",    "mod",
};
