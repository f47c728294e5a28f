#!/usr/bin/env bash
# A build as one Slurm job: the scheduler and the build on the first node, a worker for every task of the job.
#
#   bash certificates.sh ~/.dask-certificates       # once
#   sbatch slurm.sh /shared/my-project
#
# The project lies on a file system that all nodes mount under the same path, and facetflow is installed in the
# environment below, on all of them. The project file needs no address: it is given on the command line.
#SBATCH --job-name=facetflow
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=2
#SBATCH --mem-per-cpu=4G
#SBATCH --time=08:00:00
set -euo pipefail
project=${1:?name the folder of the project, on a file system that all nodes share}
certificates=${DASK_CERTIFICATES:-$HOME/.dask-certificates}
source "${FACETFLOW_ENVIRONMENT:-$HOME/facetflow/.venv}/bin/activate"

# The build takes its certificates from Dask's configuration, since the project file names none.
export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$certificates/ca.pem
for role in CLIENT SCHEDULER WORKER; do
  export "DASK_DISTRIBUTED__COMM__TLS__${role}__CERT=$certificates/cert.pem"
  export "DASK_DISTRIBUTED__COMM__TLS__${role}__KEY=$certificates/key.pem"
done
# Tasks return receipts of some hundred bytes: nothing is worth spilling.
export DASK_DISTRIBUTED__WORKER__MEMORY__TARGET=False DASK_DISTRIBUTED__WORKER__MEMORY__SPILL=False
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK TOKENIZERS_PARALLELISM=false
# Dask's own value would have freed memory given back at once, which makes a build a fifth longer.
export DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON='{"MALLOC_TRIM_THRESHOLD_": None}'

port=$((20000 + SLURM_JOB_ID % 10000)) # jobs may share a node
address=tls://$(hostname -f):$port
dask scheduler --protocol tls --port "$port" --no-dashboard --dashboard-address 127.0.0.1:0 &
scheduler=$!
srun --ntasks="$SLURM_NTASKS" dask worker "$address" --protocol tls --nworkers 1 --nthreads 1 \
  --memory-limit "$((SLURM_MEM_PER_CPU * SLURM_CPUS_PER_TASK))MiB" --resources CPU=1 \
  --local-directory "${TMPDIR:-/tmp}" --no-dashboard --dashboard-address 127.0.0.1:0 --death-timeout 120 &
workers=$!
trap 'kill "$workers" "$scheduler" 2>/dev/null || true' EXIT

until python -c 'import sys; from distributed import Client; Client(sys.argv[1], timeout=5).wait_for_workers(1, timeout=60)' \
  "$address" 2>/dev/null; do
  kill -0 "$scheduler" && kill -0 "$workers" || { echo "slurm.sh: the scheduler or all workers have ended, see above" >&2; exit 1; }
  sleep 2
done
facetflow --project "$project" build --dask-address "$address"
