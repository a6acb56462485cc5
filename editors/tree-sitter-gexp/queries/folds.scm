; SPDX-License-Identifier: Apache-2.0
[(stage) (warm_statement) (timed_statement) (branch) (loop) (unroll) (list) (call)] @fold
