#!/usr/bin/env bash
# Make an authority, and a certificate with which scheduler, workers and builds of one Dask cluster know each other.
#
#   bash certificates.sh FOLDER
#
# Whoever has key.pem and cert.pem can run code on the workers: keep the folder to those who may.
set -euo pipefail
folder=${1:?name the folder for the certificates}
umask 077
mkdir -p "$folder"
cd "$folder"
if [ -e ca.pem ]; then
  echo "certificates.sh: $folder has certificates already" >&2
  exit 1
fi
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
  -subj "/CN=dask authority" -keyout ca-key.pem -out new-ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
  -subj "/CN=dask" -keyout key.pem -out request.pem
openssl x509 -req -in request.pem -CA new-ca.pem -CAkey ca-key.pem -CAcreateserial -CAserial ca.srl \
  -days 825 -out cert.pem
rm request.pem
mv new-ca.pem ca.pem # last: of an interrupted run, nothing is kept
