// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

/// Every code of a diagnostic with its meaning: the one place for both. docs/diagnostics.md is made of it and of the cases under
/// tests/cases; a code that is reported and not listed here, or the other way round, fails a test.
namespace gexp {

struct CodeGroup {
  std::string_view prefix;  ///< "E02"; "E012" is one of its own
  std::string_view title;
  std::string_view about;   ///< what is said above the table; may be empty
};

struct Code {
  std::string_view code;
  std::string_view meaning;  ///< a sentence without its full stop
  std::string_view example;  ///< the case whose diagnostic is shown; empty: none can be shown
};

inline constexpr auto kCodeGroups = std::to_array<CodeGroup>({
    {"E01", "text and syntax", "A file that does not parse is not checked further."},
    {"E012", "used files", "These are mistakes in files that `use` names. A mistake inside such a file is shown there, with a note at each `use` that leads to it. Used files come after the file that uses them."},
    {"E02", "names and types", ""},
    {"E03", "binding times", "A value is used when it is known, or later."},
    {"E04", "values and limits", "They are found when the file is given values: before it runs, or at a point of a sweep. The limits are listed in [language.md](language.md#limits)."},
    {"E05", "lowering", ""},
    {"E06", "device models", "These are mistakes in the `.toml` files of simulated devices."},
    {"E07", "the environment", "These concern NVRTC, drivers, files and options. gexp exits with 3."},
    {"E08", "execution", "These concern a kernel on a GPU or a simulated one. The rest of the experiment goes on."},
    {"E09", "results", "These concern stores, and files that `gexp infer` and similar commands read."},
});

inline constexpr auto kCodes = std::to_array<Code>({
    {"E0101", "too large, too deeply nested, or a byte that belongs in no text", "control_byte"},
    {"E0102", "no statement begins here: a misspelt statement word, or leftovers of the one before", "typo_stmt"},
    {"E0103", "inside a statement something else is wanted; the message says what", "typo_clause"},
    {"E0104", "a brace too many or too few", "unclosed_body"},
    {"E0105", "a space between a number and its unit", "unit_space"},
    {"E0106", "`%` used as an operator: `mod` is the word", "pct_mod"},
    {"E0107", "a reserved word as a name", "kw_name"},
    {"E0108", "an operation (`chase`, `load`, …) outside `warm` and `timed`", "op_at_stage"},
    {"E0109", "not a valid number: hexadecimal, too large, or with an unknown unit", "hex_unit"},
    {"E0110", "a clause given twice", "clause_twice"},
    {"E0111", "a version of the language that this gexp does not read", "wrong_version"},
    {"E0112", "fifty mistakes: no more are looked for", "too_many_mistakes"},

    {"E0120", "a path that is not relative, leads up (`..`), has a backslash or a drive letter, or does not end with `.gexp`", "use_outside"},
    {"E0121", "a link that leads out of the folder", "use_link"},
    {"E0122", "no such file, neither there nor in the library, or one that cannot be read", "use_missing"},
    {"E0123", "the file is not the one whose `sha256` is written: `gexp lock` writes the new one", "use_changed"},
    {"E0124", "files that use each other in a circle", "use_circle"},
    {"E0125", "more than 8 deep, more than 64 files, or more than 8 MiB of them", "use_deep"},
    {"E0126", "(a warning) no `sha256` is written", "use_unlocked"},

    {"E0201", "a name declared twice in one scope; a note shows the first", "twice_declared"},
    {"E0202", "an unknown name, finding or field; the nearest one is the hint", "unknown_name"},
    {"E0203", "a statement at the wrong level: of a stage in the file, of the file in a stage, a stage in a stage", "sweep_at_file_level"},
    {"E0204", "an unknown word of a place: memory space, element, `via`, `flush`, `timed`, `record`, `of`", "unknown_space"},
    {"E0205", "a quantity whose unit is also a name here: `2s` beside `let s`", "mul_s"},
    {"E0206", "a name used before its declaration, or in it", "used_before_declared"},
    {"E0207", "a name of another kind than is wanted: a memory as a value, a value as a pattern", "memory_as_pattern"},
    {"E0208", "a confidence above 100%: a percent sign may be missing", "need_without_percent"},
    {"E0210", "dimensions that do not go together", "bytes_and_cycles"},
    {"E0211", "a plain number where a unit is meant", "bare_number_for_bytes"},
    {"E0212", "`elem` where the memories have no common element size", "elem_of_two_sizes"},
    {"E0213", "an unknown type", "unknown_type"},
    {"E0214", "the declared type of a `find` or `derive` is not that of its value", "find_type_wrong"},
    {"E0215", "another kind of value than is wanted: a text, a condition, a list, a pattern, a number", "condition_wanted"},
    {"E0216", "a whole record where one number is wanted: `median(lat)`", "whole_record_as_number"},
    {"E0217", "an interval with a unit and without a step", "step_missing"},
    {"E0218", "tuples of a sweep that do not match its names", "tuple_too_long"},
    {"E0219", "a second statement of a kind that stands once", "two_launches"},
    {"E0221", "an unknown function or analysis, or one in place of the other", "unknown_analysis"},
    {"E0222", "an argument, label or clause that is missing, unknown or given twice", "pattern_label_missing"},
    {"E0223", "a `chase` in a warm-up that is a launch of its own", "warm_launch_chases"},
    {"E0224", "`on` names no model of gexp and no `sm_NN`; the name of a GPU stands in quotes", "expect_on_unknown_model"},

    {"E0301", "a value read before it is known, or in an `expect` although it differs from point to point", "lane_in_sweep"},
    {"E0302", "a finding of a later stage", "later_stage"},

    {"E0401", "a value that is not known, or of another kind than is wanted, met while computing", "sweep_over_lanes"},
    {"E0402", "a division by zero", "division_by_zero"},
    {"E0403", "a function of an empty list, such as `min([])`", "least_of_nothing"},
    {"E0404", "a function outside its domain: `log2(0)`, `gcd` of a fraction", "log_of_zero"},
    {"E0405", "a function that has no value here", ""},
    {"E0406", "too much to compute: a pattern, a list, a sweep or a chase of more than some millions of items", "pattern_without_end"},
    {"E0407", "a step, factor or number of points that leads nowhere", "sweep_step_zero"},
    {"E0408", "a name that has no value, memory or pattern behind it here", ""},
    {"E0409", "`--set` of a parameter that does not exist, or to no value", "set_unknown"},
    {"E0410", "not a pattern: another value, or an offset that is negative or not a whole number of bytes", "negative_offset"},
    {"E0411", "a pattern's argument is missing", ""},
    {"E0412", "a pattern's argument is negative, no whole number, or a stride of zero", "stride_of_zero"},
    {"E0413", "threads whose rings do not match the launch or each other", "ring_of_more_threads"},
    {"E0414", "a parameter outside its domain", "param_outside_domain"},
    {"E0415", "not a number of repetitions: fewer than one, or a maximum below the minimum", "repeat_backwards"},
    {"E0417", "an impossible access width: a chase takes 4, 8 or 16 bytes, other accesses 1 to 16", "width_of_three"},
    {"E0418", "a number that must be whole and inside limits: grid, block, laps, width, bounds", "block_too_large"},
    {"E0419", "a precondition (`require`) that does not hold", "require_fails"},
    {"E0420", "an access outside its memory", "load_outside"},
    {"E0421", "an access that is not aligned to its width", "load_misaligned"},
    {"E0422", "a chase that visits an offset twice: a link has one successor", "ring_crosses_itself"},
    {"E0423", "two rings of one memory that lead on from one offset differently", "rings_disagree"},
    {"E0424", "a memory of no bytes, of more than its space holds, or of a fraction of a byte", "memory_empty"},
    {"E0425", "a sweep without a value", "sweep_empty"},
    {"E0426", "nothing is timed: an empty region, pattern or count", "timed_nothing"},
    {"E0427", "a plan that needs more than its `budget`", ""},
    {"E0428", "what a thread cannot compute: fractions, divisions by what differs, most functions", "thread_computes_fraction"},
    {"E0429", "a load path or a store that the memory does not have", "via_on_shared"},
    {"E0430", "an instruction that `alu` cannot chain", "alu_unknown"},
    {"E0432", "a body that unrolls to too many operations", "unroll_too_long"},
    {"E0433", "one memory chased with two widths", "chased_in_two_widths"},
    {"E0434", "a store to a memory that holds the links of a chase", "store_to_links"},
    {"E0435", "`timed … each` of more than one block", "each_of_two_blocks"},
    {"E0436", "a barrier that some threads of a block do not reach", "barrier_not_reached"},
    {"E0440", "a stage with too many points or sweeps", "points_without_end"},
    {"E0441", "too many repetitions of a point", "too_many_repetitions"},
    {"E0442", "memories that take most of the device, without a `budget` that says so", ""},
    {"E0443", "a plan that takes longer than its `budget` by estimate", ""},
    {"E0444", "more work than a compile may take, each part of it within its limit; of a stage a warning", "compile_too_large"},
    {"E0445", "`value(…)` of a point that the sweep does not have; a warning where `--set` is given", "value_off_the_sweep"},

    {"E0501", "a form that the chosen device cannot run: a load path, a bank width, a texture", ""},
    {"E0503", "a stage that times nothing", "stage_times_nothing"},
    {"E0505", "a template and its holes do not match", ""},
    {"E0506", "no such template, or one that cannot be read", ""},
    {"E0507", "(a warning) a stage whose records nothing reads", "stage_asks_nothing"},
    {"E0508", "`--stage` names a stage that the file does not have", ""},
    {"E0509", "`--dump-after` names no pass of the compiler, or is given without `--ir`", ""},
    {"E0510", "of `gexp sim`: a file without the kernel that was asked for, or an argument that is none or does not fit", ""},

    {"E0600", "no such model", ""},
    {"E0601", "the file is not TOML", "no_toml"},
    {"E0602", "an unknown key, word or name", "unknown_key"},
    {"E0603", "a key that is missing", "missing_key"},
    {"E0604", "a value of another kind than the key takes", "no_size"},
    {"E0605", "a value outside its limits", "line_of_nothing"},
    {"E0606", "values that contradict each other: an impossible geometry", "impossible_capacity"},
    {"E0607", "a number without a source, or one that is both sourced and assumed", "no_source"},

    {"E0701", "no NVRTC, or a library that is not NVRTC or is too old", ""},
    {"E0702", "CUDA text that does not compile, with NVRTC's own words", ""},
    {"E0703", "no NVIDIA driver", ""},
    {"E0704", "a driver that is too old, or does not match its kernel module", ""},
    {"E0705", "no GPU, no GPU of this number, or one that is taken", ""},
    {"E0706", "an architecture that this NVRTC does not know", ""},
    {"E0707", "the driver fails", ""},
    {"E0708", "no worker process to drive a GPU", ""},
    {"E0710", "a file that cannot be written", ""},
    {"E0711", "a file that cannot be read", ""},
    {"E0712", "the experiments that ship were not found", ""},
    {"E0713", "not enough memory on this machine", ""},
    {"E0720", "`--device` names no device", ""},
    {"E0721", "the time is over, or somebody interrupted, before there was anything to keep", ""},
    {"E0722", "more of the host's memory than gexp may hold", ""},
    {"E0730", "`gexp verify` of an experiment without an expectation that reads `model`", ""},
    {"E0731", "`gexp infer --points` of a stage without records", ""},
    {"E0732", "two experiments of one name in a survey", ""},
    {"E0733", "two results of one experiment on one side of `gexp compare`", ""},
    {"E0734", "a survey that left out every experiment", ""},

    {"E0801", "a kernel that the device does not take", ""},
    {"E0802", "not enough memory on the device", ""},
    {"E0803", "a kernel that faults, or a device that is lost by one", ""},

    {"E0901", "no JSON, or cut short", ""},
    {"E0902", "JSON that is no result of gexp", ""},
    {"E0903", "a result of a newer gexp", ""},
    {"E0904", "a result that is damaged", ""},
    {"E0905", "a result that needs more memory than this machine can give", ""},
    {"E0910", "a store that cannot be opened, read or written", ""},
    {"E0911", "a file that is no store of gexp, or is damaged", ""},
    {"E0912", "a result in a store that is damaged", ""},
    {"E0913", "a store of a newer gexp", ""},
    {"E0914", "a result that a store does not hold", ""},
    {"E0915", "`--resume` of a run that is still running", ""},
    {"E0916", "`gexp results` or `gexp export` that is not told enough", ""},
    {"E0917", "a lock file that is none", ""},
    {"E0918", "a run that is not what its lock file says", ""},
});

}  // namespace gexp
