// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace gexp::jit {

struct Location {
  std::string path;                   ///< of the NVRTC to use; empty when none is found
  std::vector<std::string> searched;  ///< places, for the message when nothing was found
  std::vector<std::string> others;    ///< further NVRTCs seen, in search order
};

/// Finds NVRTC without loading it (that costs 50 to 100 ms): GEXP_NVRTC alone when it is set (a file or a folder); else
/// CUDA_PATH, CUDA_HOME, /usr/local/cuda, LD_LIBRARY_PATH, the system's folders; at last the loader's own search, which loads.
Location locate_nvrtc();

/// The kernel cache's folder: GEXP_CACHE, else $XDG_CACHE_HOME/gexp, else ~/.cache/gexp; empty when the environment names none.
std::string locate_cache();

}  // namespace gexp::jit
