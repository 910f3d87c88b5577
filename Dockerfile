# An image in which all backends run: it contains the programs that they need and that pip cannot install.
#
#   docker build --tag onnx-conformance .
#   docker run --rm --volume "$PWD:/results" --user "$(id -u)" onnx-conformance \
#     run --core --backend tract --results /results/tract.ndjson
#
# --isolate needs user namespaces, which Docker forbids by default. The options `--security-opt seccomp=unconfined
# --security-opt systempaths=unconfined` of `docker run` allow them.
FROM python:3.13-slim-trixie AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.13-slim-trixie

# For each program, the backends that need it. All others, such as tract and openvino, need only packages.
#   nodejs, npm   onnxruntime_node and onnxruntime_web
#   clang         tinygrad, which compiles its kernels with it
#   gcc, libc6-dev, make   emx_onnx_cgen, which compiles C, and the cache of tvm
#   bubblewrap    --isolate
#   chromium      the driver for the CPU of the execution provider webgpu, and the tests of the HTML page
#   libvulkan1    the execution provider webgpu, which loads that driver with it
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        bubblewrap chromium clang gcc libc6-dev libvulkan1 make nodejs npm \
    && rm --recursive /var/lib/apt/lists

COPY --from=build /wheel /wheel
# uv creates the environment of each other runtime when it is first used. HOME contains them, for any user.
ENV HOME=/home/tester
RUN pip install --no-cache-dir "$(ls /wheel/*.whl)[onnxruntime,search]" 'uv>=0.8' \
    && install --directory --mode=1777 "$HOME" /results

USER nobody
WORKDIR /results
ENTRYPOINT ["onnx-conformance"]
CMD ["--help"]
