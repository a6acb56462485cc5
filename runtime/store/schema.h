// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace gexp::store {

/// SQL that leads from each version of the schema to the next; a released one is never changed, a new one is added.
inline const std::vector<std::string> kVersions = {R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number stands for one result, for ever
  name TEXT UNIQUE,
  experiment TEXT NOT NULL, spec_path TEXT NOT NULL, spec_sha256 TEXT NOT NULL,
  device TEXT NOT NULL, device_name TEXT NOT NULL, simulated INTEGER NOT NULL,
  seed TEXT NOT NULL,                       -- 64 bits without a sign do not fit an INTEGER
  fingerprint TEXT NOT NULL,                -- of what decides what is measured
  date TEXT NOT NULL, host TEXT NOT NULL,
  owner TEXT NOT NULL,                      -- process that measures: number and start
  state TEXT NOT NULL,
  seconds REAL NOT NULL,
  findings INTEGER NOT NULL, found INTEGER NOT NULL,
  expectations INTEGER NOT NULL, held INTEGER NOT NULL,
  points INTEGER NOT NULL, records INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_fingerprint ON runs (fingerprint);
CREATE TABLE heads (                        -- the result file without its stages, compressed
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  data BLOB NOT NULL
) STRICT;
CREATE TABLE stages (                       -- each stage without its records, compressed
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  number INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE rounds (                       -- repetitions of a point that were measured in one go
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  stage TEXT NOT NULL,
  place TEXT NOT NULL,                      -- the point's coordinates, JSON
  first INTEGER NOT NULL,                   -- number of the first repetition
  whole INTEGER NOT NULL,                   -- 0: broken off
  data BLOB NOT NULL,
  UNIQUE (run, stage, place, first)
) STRICT;
CREATE TABLE kernels (
  key TEXT PRIMARY KEY,                     -- SHA-256 of source, options, NVRTC, architecture
  template TEXT NOT NULL,
  cuda BLOB NOT NULL                        -- compressed
) STRICT;
CREATE TABLE run_kernels (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  key TEXT NOT NULL REFERENCES kernels,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE models (                       -- of simulated devices
  sha256 TEXT PRIMARY KEY,
  text BLOB NOT NULL                        -- compressed
) STRICT;
CREATE TABLE run_models (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  model TEXT NOT NULL REFERENCES models
) STRICT;
)sql",
                                                   R"sql(
CREATE TABLE stage_keys (                   -- whole stages, which may stand for later ones
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  number INTEGER NOT NULL,                  -- of the stage
  key TEXT NOT NULL,                        -- SHA-256 of what follows
  text TEXT NOT NULL, inputs TEXT NOT NULL, seed TEXT NOT NULL, device TEXT NOT NULL, toolchain TEXT NOT NULL,
  name TEXT NOT NULL,
  origin INTEGER NOT NULL,                  -- the result in which it was measured, and when
  date TEXT NOT NULL,
  seconds REAL NOT NULL,                    -- that measuring took then
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX stage_keys_by_key ON stage_keys (key);
)sql"};

}  // namespace gexp::store
