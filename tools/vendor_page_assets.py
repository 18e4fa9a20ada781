#!/usr/bin/env python3
"""Fetches the page's libraries from npm, each pinned by version and integrity hash, into web/static/vendor.

  tools/vendor_page_assets.py            fetch all and write the files
  tools/vendor_page_assets.py --verify   fetch all and compare with the committed files; exit status 1 if one differs
  tools/vendor_page_assets.py --offline  compare the committed files with the SHA-256 list in vendor/files.sha256
"""

import argparse
import base64
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile

VENDOR = pathlib.Path(__file__).resolve().parent.parent / "web" / "static" / "vendor"
LIST = VENDOR / "files.sha256"

# package, version, licence, integrity of the npm tarball, {file in the package: file here}; a folder copies the files named *.woff2
PACKAGES = [
    ("htmx.org", "4.0.1", "0BSD",
     "sha512-oF7JgXhDW9UXCy/k1ZYFUQgzu/rm19ORWPSPNL91vPluB2PB9+MV55tyQdH/w7o2EAbTYUG5SDW1R60mdkdqGg==",
     {"LICENSE": "htmx.LICENSE", "dist/htmx.min.js": "htmx.min.js",
      "dist/ext/hx-sse.min.js": "hx-sse.min.js", "dist/ext/hx-csp.min.js": "hx-csp.min.js"}),
    ("marked", "18.2.1", "MIT",
     "sha512-ii4bxCTCqqwpT86XZWgJNs+ZnAIZksmLGYMViWA7PDIXYIeNo1x6cDdX3JOip9NM/cI6p8z57FxliACboTruMA==",
     {"LICENSE": "marked.LICENSE", "lib/marked.umd.js": "marked.umd.js"}),
    ("dompurify", "3.5.0", "MPL-2.0 or Apache-2.0",
     "sha512-LYC0ZkE8P1V42JsRYTwMdme/2ET8SpOc5AA2eOFjP/IadvRd2fwiT4TVz5vkfy0XUx12aS2UaRkTnfVPNOv9vw==",
     {"LICENSE": "dompurify.LICENSE", "dist/purify.min.js": "purify.min.js"}),
    ("@highlightjs/cdn-assets", "11.12.0", "BSD-3-Clause",
     "sha512-KvOKXODaiFmId9xaq3xc5xCL66wVLUuOngDbO9B/kewbFTqdGbn2nJxNhN3H5R1cgDTVj6R8vH0zgiNDEGjpDw==",
     {"LICENSE": "highlight.LICENSE", "highlight.min.js": "highlight.min.js"}),
    ("katex", "0.19.1", "MIT",
     "sha512-jG8uKntjSEcm2EpQOh0XturpPuuC9r3Sq5HLHdsFdWZT27E672SF19QEi+of0/YeOy15lDgRhKvr5614uRrEfA==",
     {"LICENSE": "katex.LICENSE", "dist/katex.min.js": "katex.min.js", "dist/katex.min.css": "katex.min.css",
      "dist/fonts/": "fonts/"}),
]


def download(package: str, version: str, integrity: str) -> dict[str, bytes]:
    """The files of a package, by their path inside it. Exits where the tarball is not the pinned one."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", f"{package}@{version}", "--silent"], cwd=folder, check=True, capture_output=True)
        tarball = next(pathlib.Path(folder).glob("*.tgz")).read_bytes()
    found = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    if found != integrity:
        sys.exit(f"{package}@{version}: expected {integrity}, found {found}")
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        return {member.name.split("/", 1)[1]: archive.extractfile(member).read()
                for member in archive.getmembers() if member.isfile()}


def wanted_files() -> dict[str, bytes]:
    files = {}
    for package, version, _, integrity, chosen in PACKAGES:
        content = download(package, version, integrity)
        for source, target in chosen.items():
            if source.endswith("/"):
                files |= {target + name.removeprefix(source): data for name, data in content.items()
                          if name.startswith(source) and name.endswith(".woff2")}
            else:
                files[target] = content[source]
    # Browsers that know woff2 never ask for the older fonts, which are not kept.
    return files


def readme() -> str:
    lines = ["# Libraries of the page", "",
             "Byte for byte as npm has them; `tools/vendor_page_assets.py` fetches and verifies them. Only KaTeX's woff2 fonts are kept.",
             "", "| package | version | licence | files |", "|---|---|---|---|"]
    for package, version, licence, _, chosen in PACKAGES:
        lines.append(f"| {package} | {version} | {licence} | {', '.join(f'`{name}`' for name in chosen.values())} |")
    return "\n".join(lines) + "\n"


def compare(expected: dict[str, str]) -> int:
    """Prints how the committed files differ from the expected SHA-256 sums; 1 where they do."""
    kept = {"README.md", LIST.name}
    found = {str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest()
             for path in sorted(VENDOR.rglob("*")) if path.is_file() and path.name not in kept}
    wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    for name in wrong:
        print(f"{name}: expected {expected.get(name, 'no such file')}, found {found.get(name, 'none')}")
    print(f"{len(found)} files, {len(wrong)} differ")
    return 1 if wrong else 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--verify", action="store_true")
    options.add_argument("--offline", action="store_true")
    chosen = options.parse_args()
    if chosen.offline:
        lines = LIST.read_text().splitlines()
        return compare({name: digest for digest, name in (line.split("  ", 1) for line in lines)})
    files = wanted_files()
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    if chosen.verify:
        return compare(sums)
    for name, data in files.items():
        path = VENDOR / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    LIST.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))
    (VENDOR / "README.md").write_text(readme())
    return compare(sums)


if __name__ == "__main__":
    sys.exit(main())
