set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/usr/aarch64-linux-gnu)
# Header-only libraries that are the same on every processor; the cross compiler's own headers come first.
set(CMAKE_CXX_FLAGS_INIT "-idirafter /usr/include")
