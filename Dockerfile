# An image that runs `facetflow`:
#
#     docker build -t facetflow .
#     docker run --rm --init --user "$(id -u):$(id -g)" -v "$PWD:/project" facetflow build
#
# A project is mounted at /project, and a folder for pulled models at /models if they are to be kept; files belong to the
# user that is given. PIP_ARGUMENTS takes options of pip, such as an index with torch wheels for CPUs only, which are far
# smaller than those with CUDA.
FROM python:3.11-slim

ARG PIP_ARGUMENTS=""
ENV PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore \
    PYTHONUNBUFFERED=1 \
    DO_NOT_TRACK=1 \
    HOME=/home/facetflow \
    FACETFLOW_MODELS=/models \
    NUMBA_CACHE_DIR=/kernels

WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY facetflow ./facetflow
COPY features ./features
COPY flows ./flows
COPY tasks ./tasks
COPY training ./training
# shellcheck disable=SC2086
RUN pip install ${PIP_ARGUMENTS} --constraint constraints.txt ".[all]"

WORKDIR /project
# Metrics are compiled once, here, instead of in each container; again on a processor of another kind.
# numba reads its cache only where it can write, and any user needs a home.
RUN python -P -c "from features.metrics.measurement import warm_up; warm_up()" && \
    mkdir -p /models "$HOME" && \
    chmod -R a+rwX /kernels /models "$HOME"
ENTRYPOINT ["facetflow"]
CMD ["--help"]
