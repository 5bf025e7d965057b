"""Python's safetensors opens a model file: names, shapes, finite values, metadata.

Usage: open_model.py MODEL
"""

import json
import sys

import numpy
import safetensors


def main():
    path = sys.argv[1]
    with safetensors.safe_open(path, framework="numpy") as model:
        metadata = model.metadata()
        assert metadata["format_version"].isdigit(), metadata
        assert len(metadata["header_hash"]) == 16, metadata
        json.loads(metadata["configuration"])
        names = list(model.keys())
        floats = 0
        for name in names:
            tensor = model.get_tensor(name)
            if name.startswith("_pad."):
                assert tensor.dtype == numpy.uint8 and not tensor.any(), name
            elif tensor.dtype == numpy.float32:
                floats += tensor.size
                assert numpy.isfinite(tensor).all(), name
            else:
                assert tensor.dtype == numpy.uint8, (name, tensor.dtype)
    assert floats > 0
    # Every tensor that is not padding starts at a multiple of 64 bytes of the file.
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    for name, tensor in header.items():
        if name != "__metadata__" and not name.startswith("_pad."):
            assert (8 + size + tensor["data_offsets"][0]) % 64 == 0, name
    print(f"   Python's safetensors opens it: {len(names)} tensors, {floats} floats")


if __name__ == "__main__":
    main()
