"""The libraries that convolutions.py, products.py and bytes.py compare with, as one library that is compiled here."""
import ctypes, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = "libdnnl-dev libxsmm-dev"


def load(folder):
    library = os.path.join(folder, "peers.so")
    command = ["g++", "-O3", "-march=native", "-shared", "-fPIC", os.path.join(HERE, "peers.cpp"), "-o", library, "-ldnnl", "-lxsmm", "-lxsmmnoblas", "-ldl", "-lm"]
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"libraries to compare with are missing: apt-get install {PACKAGES}\n" + p.stderr[:600])
    peers = ctypes.CDLL(library)
    for name in ("peer_convolution", "peer_product", "peer_product_of_bytes", "peer_generated"):
        getattr(peers, name).restype = ctypes.c_void_p
    peers.peer_peak.restype = peers.peer_peak_of_bytes.restype = ctypes.c_double
    return peers


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)
