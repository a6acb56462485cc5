// SPDX-License-Identifier: Apache-2.0
// Nothing: its precompiled header is what the other targets share.
