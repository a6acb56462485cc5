// SPDX-License-Identifier: Apache-2.0
// The grammar of `.gexp` files for editors, after docs/language/grammar.md. A test compares it with gexp's own parser.
// It is wider where an editor gains by it: the header may be missing (a fragment in a document), and every statement but
// `stage` may stand in the file and in a stage, as in gexp's parser, which says later that one stands at the wrong level.

/** One or more, with commas between. */
const list_of = (rule) => seq(rule, repeat(seq(",", rule)));
/** One or more, with commas between and perhaps one behind. */
const list_with_end = (rule) => seq(list_of(rule), optional(","));
/** A clause: its word, then a value. */
const clause = ($, word) => seq(word, field("value", $._value));
const WORD = /[A-Za-z_][A-Za-z0-9_]*/;
const NEXT_WORD = token.immediate(WORD);
const DOT = token.immediate(".");

module.exports = grammar({
  name: "gexp",

  word: ($) => $.word,
  extras: ($) => [/[ \t\n\r\v\f]/, $.comment],
  // src/scanner.c: a name is a word that is not reserved; a unit touches its number, and `B/s` is one where `B/stride` is a division.
  externals: ($) => [$.name, $.unit, $._while, $._error_sentinel],
  // After `budget time 60s`, is `memory` a clause or a statement? Only the `:` behind the name after it tells.
  conflicts: ($) => [[$.budget_statement]],

  rules: {
    source_file: ($) => seq(optional($.header), repeat(choice($.stage, $.analysis, $._statement))),
    header: ($) => seq("gexp", field("version", $.integer), "experiment", field("name", $.name), optional($.doc_clause)),
    doc_clause: ($) => seq("doc", $.string),

    _statement: ($) =>
      choice(
        $.meta_statement, $.use_statement, $.param_statement, $.let_statement, $.require_statement, $.budget_statement,
        $.seed_statement, $.memory_statement, $.pattern_statement, $.give_statement, $.sweep_statement, $.skip_statement,
        $.launch_statement, $.transform_statement, $.flush_statement, $.warm_statement, $.timed_statement, $.repeat_statement, $.record_statement,
        $.derive_statement, $.find_statement, $.expect_statement, $.plot_statement, $._operation,
      ),

    // Statements of the file.
    meta_statement: ($) => seq("meta", field("key", $.word), $.string),
    use_statement: ($) => seq("use", field("file", $.string), "as", field("name", $.name), optional($.sha256_clause)),
    sha256_clause: ($) => seq("sha256", $.string),
    param_statement: ($) =>
      seq("param", field("name", $.name), ":", field("type", $.type), "=", field("value", $._value),
        optional(seq("in", field("domain", $.domain))), optional($.doc_clause)),
    let_statement: ($) => seq("let", field("name", $.name), "=", field("value", $._expression)),
    require_statement: ($) => seq("require", field("condition", $._expression), optional($.else_clause)),
    else_clause: ($) => seq("else", $.string),
    budget_statement: ($) =>
      seq("budget", optional(alias($._time, $.time_clause)), optional(alias($._memory, $.memory_clause))),
    _time: ($) => clause($, "time"),
    _memory: ($) => clause($, "memory"),
    seed_statement: ($) => seq("seed", $.integer),
    memory_statement: ($) =>
      seq("memory", field("name", $.name), ":", field("element", alias($.word, $.type)), "[", field("length", $._value), "]",
        "in", field("space", $.word), repeat(choice($.page_clause, $.align_clause, $.holds_clause, $.pitch_clause))),
    page_clause: ($) => clause($, "page"),
    align_clause: ($) => clause($, "align"),
    holds_clause: ($) => clause($, "holds"),
    pattern_statement: ($) => seq("pattern", field("name", $.name), "=", field("value", $._expression)),
    stage: ($) => seq("stage", field("name", $.name), optional($.beside_clause), optional($.doc_clause), field("body", $.stage_body)),
    beside_clause: ($) => seq("beside", field("leader", $.name)),
    stage_body: ($) => seq("{", repeat($._statement), "}"),

    analysis: ($) =>
      seq("analysis", field("name", $.name), "(", optional(list_with_end($.typed_name)), ")", "->", field("type", $.type),
        optional($.doc_clause), field("body", $.analysis_body)),
    typed_name: ($) => seq(field("name", $.name), ":", field("type", $.type)),
    analysis_body: ($) => seq("{", repeat($._statement), "}"),
    give_statement: ($) => seq("give", optional(seq(field("name", $.name), "=")), field("value", $._expression)),

    // Statements of a stage.
    sweep_statement: ($) =>
      seq("sweep", choice(field("name", $.name), seq("(", list_of(field("name", $.name)), ")")), "in", field("domain", $.domain)),
    domain: ($) =>
      seq($._value, optional(seq("..", $._value, optional(choice($.step_clause, $.times_clause, $.points_clause)))),
        optional($.refine_clause), optional($.until_clause)),
    step_clause: ($) => clause($, "step"),
    times_clause: ($) => clause($, "times"),
    points_clause: ($) => seq(clause($, "points"), optional("log")),
    refine_clause: ($) => seq("refine", "to", field("width", $._value), "on", field("condition", $._expression)),
    until_clause: ($) => seq("until", field("condition", $._expression)),
    skip_statement: ($) => seq("skip", field("condition", $._expression), "why", $.string),
    launch_statement: ($) =>
      seq("launch", repeat(choice($.grid_clause, $.block_clause, $.launch_clause, $.place_clause))),
    grid_clause: ($) => clause($, "grid"),
    block_clause: ($) => clause($, "block"),
    launch_clause: ($) => clause($, choice("cluster", "smem", "persm", "carveout", "bank", "sms", "sm", "limit", "registers")),
    place_clause: ($) => seq("place", field("place", $.word)),
    transform_statement: ($) => seq("transform", field("call", $.call)),
    flush_statement: ($) => seq("flush", field("level", $.word)),
    warm_statement: ($) => seq("warm", repeat(choice($.grid_clause, $.block_clause)), field("body", $.body)),
    timed_statement: ($) => seq("timed", field("name", $.name), field("how", $.word), field("body", $.body)),
    repeat_statement: ($) => seq("repeat", $._value, optional(seq("..", $._value)), optional($.until_clause)),
    record_statement: ($) => seq("record", field("name", $.name), field("keep", $.word)),
    derive_statement: ($) =>
      seq("derive", field("name", $.name), ":", field("type", $.type), "=", field("value", $._expression)),
    find_statement: ($) =>
      seq("find", field("name", $.name), ":", field("type", $.type), "=", field("value", $.call), optional($.need_clause)),
    need_clause: ($) => clause($, "need"),
    expect_statement: ($) =>
      seq("expect", field("condition", $._expression), optional($.where_clause), optional($.on_clause), optional($.from_clause),
        optional($.xfail_clause)),
    on_clause: ($) => seq("on", list_of(choice($.string, $.name))),
    from_clause: ($) => seq("from", $.string),
    xfail_clause: ($) => seq("xfail", $.string),
    plot_statement: ($) => seq("plot", $._value, "vs", $._value, optional($.by_clause), optional($.drawn_clause), optional($.log_clause)),
    drawn_clause: ($) => seq("as", field("drawn", $.word)),
    log_clause: ($) => seq("log", list_of($.name)),

    // Operations.
    body: ($) => seq("{", repeat($._operation), "}"),
    _operation: ($) =>
      choice(
        $.chase, $.load, $.store, $.alu, $.barrier, $.atomic, $.fence, $.discard, $.drain, $.branch, $.unroll, $.loop, $.signal, $.wait,
        $.kernel, $.interleave, $.var, $.assign, $.stamp, $.keep,
      ),
    chase: ($) =>
      seq("chase", field("memory", $.name), "by", field("pattern", $.pattern_name), choice($.laps_clause, $.steps_clause),
        repeat($._access)),
    pattern_name: ($) => seq($.name, optional(seq(DOT, alias(NEXT_WORD, $.field)))),
    laps_clause: ($) => clause($, "laps"),
    steps_clause: ($) => clause($, "steps"),
    _access: ($) => choice($.as_clause, $.via_clause, $.hint_clause, $.fetch_clause, $.rank_clause),
    load: ($) => seq("load", field("memory", $.name), $._place, repeat(choice($._access, $.to_clause, $.into_clause, $.rows_clause, $.pitch_clause))),
    store: ($) => seq("store", field("memory", $.name), $._place, repeat(choice($._access, $.value_clause))),
    _place: ($) => choice(seq("at", field("offset", $._value)), alias($._by_pattern, $.by_clause)),
    value_clause: ($) => seq("value", field("value", $._expression)),
    as_clause: ($) => clause($, "as"),
    via_clause: ($) => seq("via", field("path", $.word)),
    hint_clause: ($) => seq("hint", field("hint", $.word)),
    fetch_clause: ($) => clause($, "fetch"),
    rank_clause: ($) => clause($, "rank"),
    rows_clause: ($) => clause($, "rows"),
    pitch_clause: ($) => clause($, "pitch"),
    to_clause: ($) => seq("to", field("level", $.word)),
    into_clause: ($) => seq("into", field("target", $.name), optional(seq("at", field("offset", $._value)))),
    scope_clause: ($) => seq("scope", field("scope", alias($.name, $.word))),
    alu: ($) => seq("alu", field("instruction", $.instruction), $.chain_clause, $.ilp_clause),
    instruction: ($) => seq($.word, repeat(seq(DOT, NEXT_WORD))),
    chain_clause: ($) => clause($, "chain"),
    ilp_clause: ($) => clause($, "ilp"),
    barrier: () => "barrier",
    atomic: ($) =>
      seq("atomic", field("instruction", $.instruction), field("memory", $.name), "at", field("offset", $._value),
        repeat(choice("red", $.scope_clause, $.rank_clause))),
    fence: ($) => seq("fence", field("scope", alias($.name, $.word))),
    discard: ($) => seq("discard", field("memory", $.name), "at", field("offset", $._value)),
    drain: () => "drain",
    branch: ($) =>
      seq("branch", field("condition", $._expression), field("body", $.body), optional(seq("else", field("otherwise", $.body)))),
    unroll: ($) => seq("unroll", field("name", $.name), "in", $._value, "..", $._value, field("body", $.body)),
    loop: ($) =>
      seq("loop",
        choice(seq(alias($._while, "while"), field("condition", $._expression), $.laps_clause), seq(field("name", $.name), "in", $._value, "..", $._value)),
        field("body", $.body)),
    interleave: ($) => seq("interleave", field("body", $.body)),
    var: ($) => seq("var", field("name", $.name), ":", field("type", alias($.word, $.type)), "=", field("value", $._expression)),
    stamp: ($) => seq("stamp", field("name", $.name)),
    keep: ($) => seq("keep", field("value", $._expression)),
    assign: ($) => seq("assign", field("name", $.name), "=", field("value", $._expression)),
    signal: ($) => seq("signal", field("flag", $.name)),
    wait: ($) => seq("wait", field("flag", $.name), repeat(choice($.wait_for_clause, $.wait_within_clause))),
    wait_for_clause: ($) => clause($, "for"),
    wait_within_clause: ($) => clause($, "within"),
    kernel: ($) =>
      seq("kernel", field("file", $.string), optional($.sha256_clause), "entry", field("entry", $.word), "(",
        optional(list_with_end($.kernel_argument)), ")", repeat(choice($.template_clause, $.define_clause))),
    kernel_argument: ($) =>
      seq(choice(seq(field("record", $.name), "[", field("entries", $._value), "]"), $._value),
        repeat(choice($.as_clause, alias($._by_pattern, $.by_clause)))),
    _by_pattern: ($) => seq("by", field("pattern", $.pattern_name)),
    template_clause: ($) => seq("template", list_of($._value)),
    define_clause: ($) => seq("define", field("name", $.word), "=", field("value", $._value)),

    // Expressions: conditions, then values, which hold a condition only in brackets.
    _expression: ($) =>
      choice(alias($._or, $.binary_expression), alias($._xor, $.binary_expression), alias($._and, $.binary_expression), alias($._not, $.unary_expression),
        alias($._compared, $.binary_expression), $.within_expression, $.range_expression, $._value),
    _or: ($) => prec.left(1, seq($._expression, field("operator", "or"), $._expression)),
    _xor: ($) => prec.left(2, seq($._expression, field("operator", "xor"), $._expression)),
    _and: ($) => prec.left(3, seq($._expression, field("operator", "and"), $._expression)),
    _not: ($) => prec(4, seq(field("operator", "not"), $._expression)),
    _compared: ($) =>
      seq($._value, field("operator", choice("==", "!=", "<=", ">=", "<", ">")), $._value),
    within_expression: ($) => seq($._value, "within", $._value, "of", $._value),
    range_expression: ($) => seq($._value, "in", $._value, "..", $._value),

    _value: ($) => choice($.binary_expression, $.unary_expression, $._primary),
    binary_expression: ($) =>
      choice(
        prec.left(5, seq($._value, field("operator", "??"), $._value)),
        prec.left(6, seq($._value, field("operator", choice("+", "-")), $._value)),
        prec.left(7, seq($._value, field("operator", choice("*", "/", "div", "mod", "shl", "shr")), $._value)),
      ),
    unary_expression: ($) => prec(8, seq(field("operator", "-"), choice($.unary_expression, $._primary))),
    _primary: ($) => choice($.quantity, $.string, $.call, $.list, $.group, $.path),
    quantity: ($) => seq($.number, optional($.unit)),
    path: ($) => seq($.name, repeat(seq(DOT, alias(NEXT_WORD, $.field)))),
    group: ($) => seq("(", list_of($._expression), ")"),
    call: ($) =>
      seq(field("function", choice($.name, alias("repeat", $.name), $.function_path)), token.immediate("("), optional(list_with_end($.argument)), ")"),
    function_path: ($) => seq($.name, DOT, alias(NEXT_WORD, $.field)),
    argument: ($) =>
      seq(optional(seq(field("label", alias(choice($.name, $.word, "repeat", "not"), $.label)), ":")), $._expression,
        optional($.over_clause), optional($.by_clause), optional($.where_clause)),
    over_clause: ($) => clause($, "over"),
    by_clause: ($) => seq("by", $.name),
    where_clause: ($) => seq("where", field("condition", $._expression)),
    list: ($) =>
      seq("[", optional(choice(seq($._expression, repeat1($.for_clause)), list_with_end($._expression))), "]"),
    for_clause: ($) =>
      seq("for", field("name", $.name), "in", $._value, optional(seq("..", $._value, optional($.step_clause)))),

    // Characters.
    word: () => WORD,
    type: ($) => seq($.word, optional(seq(token.immediate("/"), NEXT_WORD))),
    integer: () => /[0-9]+/,
    number: () => /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/,
    string: () => /"[^"\n]*"/,
    comment: () => /#[^\n]*/,
  },
});
