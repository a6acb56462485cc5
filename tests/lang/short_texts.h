// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

/// Small files of every form, right and wrong: where two readers of the language would differ first.
namespace gexp::test {

inline std::vector<std::string> short_texts() {
  std::vector<std::string> texts;
  for (const char* one : {
           "let a = 1..2", "let a = [1, 2,]", "let a = [1, 2,,]", "let a = (1, 2)", "let a = (1, 2,)", "let a = f(1, 2,)", "let a = f(,)",
           "let a = f()", "let a = [ ]", "let a = f (1)", "let a = - - 4B ?? 3", "let a = not not b or c and not d", "let a = b < c < d",
           "let a = b within 2% of c in d..e", "let a = (b within 2% of c)", "let a = [x for x in 0..4 step 2 for y in l]",
           "let a = [for x in l]", "let a = b . c", "let a = b.c.d", "let a = b.load", "let a = 4 KiB", "let a = 4GB/s",
           "let a = 4GB/hour", "let a = 4GB/ s", "let a = 1e5 let b = 1e", "let a = \"x\ny\"", "let load = 4",
           "budget memory A: u32[4] in global", "budget memory 4MiB memory A: u32[4] in global", "budget time 4s", "budget", "seed 4",
           "seed 4B", "seed a", "meta a \"b\"", "meta load \"b\"", "use \"a\" as b", "use \"a\" as b sha256 \"c\"", "use \"a\"",
           "param a: B = 4 in 1..4 doc \"x\"", "param a: B/s = 4 in [1, 2] refine to 3 on x until y", "param a: B = 4 or 5",
           "memory A: u32[4] in global align 4 page 5", "memory A: u32 [4] in global", "pattern p = repeat(q, 3)", "let repeat = 3",
           "require a else \"b\"", "require a \"b\"", "expect a where b on c, \"d e\" from \"f\" xfail \"g\"", "expect a on",
           "stage s doc \"x\" { }", "stage s { stage t { } }",
           "stage s { sweep (a, b) in [(1, 2)] sweep a in b points 3 log refine to 3 on d until e }", "stage s { sweep a in 1..2 log }",
           "stage s { skip a }", "stage s { launch }", "stage s { launch place sm bank 4B persm 3 smem 4 cluster 3 }",
           "stage s { warm { } timed t each { loop i in 0..3 { branch a < 3 { barrier } } } }",
           "stage s { warm { chase A by m.r laps 3 as 4B via ca as 8B } }", "stage s { warm { chase A by m.r.s laps 3 } }",
           "stage s { warm { chase A by r } }", "stage s { timed t each { alu a.b.c chain 1 ilp 2 alu x chain 2 } }",
           "stage s { barrier }",
           "stage s { repeat 3 repeat 3..4 until a record t raw derive a: B = b find c: list = f(a over b by c where d, e: g) need 3% "
           "plot a vs b by c log d, e }",
           "stage s { find a: B = b }", "stage s { plot a }", "flush l2 }", "let a = b # c", "let a = b c",
           "memory A: u32[4] in global }", "let a = b == = c", "let a == b", "let a = b mod c div d * e / f", "let a = f(l: 3, m :4)",
           "let a = f(l: m: 3)", "let a = f(over 3)", "let over = 3 let by = over", "let a = repeat (3)", "let a = f(b over 1 or 2)",
           "let a = [b for b in 1 or 2..3]", "let a = b in 1..2 or 3", "let a = -not b", "param a: B = 4 in 1..2 or 3",
           "memory A: u32[4 or 5] in global", "budget time 1 or 2", "expect a or b", "stage s { sweep a in 1 or 2 }",
           "stage s { sweep a in 1..2 or 3 }", "stage s { sweep a in 1..2 step 1 or 2 }", "stage s { sweep a in 1..2 times 1 or 2 }",
           "stage s { sweep a in 1..2 points 1 or 2 }", "stage s { sweep a in 1..2 refine to 1 or 2 on b }",
           "stage s { sweep a in 1..2 refine to 1 on b or c until d or e }", "stage s { sweep a in 1..2 until b refine to 1 on c }",
           "stage s { launch grid 1 or 2 }", "stage s { launch block 1 or 2 }", "stage s { launch carveout 1 or 2 }",
           "stage s { skip a or b why \"c\" }", "stage s { skip a why }", "stage s { require a or b else \"c\" }",
           "stage s { let a = b or c }", "stage s { pattern a = b or c }", "stage s { repeat 1 or 2 }", "stage s { repeat 1..2 or 3 }",
           "stage s { repeat 1..2 until a or b }", "stage s { derive a: B = b or c }", "stage s { find a: B = f(b) need 1 or 2 }",
           "stage s { plot a or b vs c }", "stage s { plot a vs b or c }", "stage s { plot a vs b log c by d }", "stage s { record a }",
           "stage s { record a b c }", "stage s { flush }", "stage s { timed t { } }", "stage s { timed t each }", "stage s { warm }",
           "stage s { warm { chase A by r laps 1 or 2 } }", "stage s { warm { chase A by r steps 1 as 1 or 2 } }",
           "stage s { warm { load A at 1 or 2 } }", "stage s { warm { store A at 1 via cg as 2 } }", "stage s { warm { load A by 1 } }",
           "stage s { warm { alu x chain 1 or 2 ilp 1 } }", "stage s { warm { alu x chain 1 ilp 1 or 2 } }",
           "stage s { warm { unroll i in 1 or 2..3 { } } }", "stage s { warm { loop i in 1..2 or 3 { } } }",
           "stage s { warm { loop i in 1 { } } }", "stage s { warm { branch a or b { } } }", "stage s { warm { branch { } } }",
           "stage s { warm { barrier barrier } }", "stage s { expect a on b, where c }"}) {
    texts.push_back("gexp 1 experiment t " + std::string(one));
  }
  return texts;
}

}  // namespace gexp::test
