#!/usr/bin/env bash
# run.sh GEXP FOLDER [NAME]: kernels of NVIDIA's cuda-samples (BSD), from the folder that GEXP_CUDA_SAMPLES names, or fetched into FOLDER.
set -uo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../strangers.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "SKIPPED: no numpy: Debian's python3-numpy has what the samples' results are compared with"; exit 77; }
strangers GEXP_CUDA_SAMPLES "$2" https://github.com/NVIDIA/cuda-samples.git c94ff366aed18c797b8a85dfaac7817b0228b420 '*.cu' '*.cuh' '*.h' '/LICENSE*'
exec /usr/bin/python3 "$here/samples.py" "$1" "$found/Samples" "${@:3}"
