# Whether the device route is built for CUDA, and why or why not.
option(GNOMON_CUDA "Build the CUDA kernels when a CUDA compiler is found" ON)
