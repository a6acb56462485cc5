; SPDX-License-Identifier: Apache-2.0
[(stage) (analysis) (warm_statement) (timed_statement) (branch) (loop) (unroll) (list) (call)] @fold
