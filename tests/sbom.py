# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bill of materials of a folder with packages and wheels, as CycloneDX 1.5 on stdout; the same folder gives the same bytes.

usage: sbom.py FOLDER

Components: each package and wheel with its digest, what the packages depend on, and the CUDA runtime where it is linked in.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

CUDA_RUNTIME = {
    "type": "library", "bom-ref": "cudart_static", "name": "cudart_static", "supplier": {"name": "NVIDIA Corporation"},
    "licenses": [{"license": {"name": "NVIDIA CUDA Toolkit EULA", "url": "https://docs.nvidia.com/cuda/eula/index.html"}}],
    "description": "CUDA runtime, linked in statically",
}


def has_cuda_runtime(package):
    """Its error texts are in every program that it is linked into."""
    with tempfile.TemporaryDirectory() as folder:
        if package.suffix == ".whl":
            zipfile.ZipFile(package).extractall(folder)
        else:
            subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        return any(b"cudaErrorInsufficientDriver" in file.read_bytes() for file in pathlib.Path(folder).rglob("*.so*")
                   if file.is_file() and not file.is_symlink())


def fields_of(package):
    text = subprocess.run(["dpkg-deb", "-f", package, "Package", "Version", "Architecture", "Depends", "Description"],
                          capture_output=True, text=True, check=True).stdout
    return dict(line.split(": ", 1) for line in text.splitlines() if re.match(r"\w+: ", line))


def needs_of(fields):
    """Names of packages, the first of alternatives."""
    return sorted({re.match(r"[^ :(|]+", need.strip())[0] for need in fields.get("Depends", "").split(",") if need.strip()})


def component(file, name, version, purl):
    return {
        "type": "library", "bom-ref": file.name, "name": name, "version": version, "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}],
        "licenses": [{"license": {"id": "LGPL-2.1-or-later"}}],
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    components, dependencies, others = [], [], set()
    packages = {file: fields_of(file) for file in sorted(folder.rglob("*.deb")) if "-dbgsym_" not in file.name}
    names = {fields["Package"]: file.name for file, fields in packages.items()}
    for file, fields in packages.items():
        purl = f"pkg:deb/{fields['Package']}@{fields['Version']}?arch={fields['Architecture']}"
        components.append(component(file, fields["Package"], fields["Version"], purl))
        needs = [names.get(need, need) for need in needs_of(fields)]
        others |= {need for need in needs if need not in names.values()}
        if has_cuda_runtime(file):
            needs.append(CUDA_RUNTIME["bom-ref"])
        dependencies.append({"ref": file.name, "dependsOn": needs})
    for file in sorted(folder.rglob("*.whl")):
        name, version = file.name.split("-")[:2]
        components.append(component(file, name, version, f"pkg:pypi/{name}@{version}"))
        needs = ["python3-numpy"] + [CUDA_RUNTIME["bom-ref"]] * has_cuda_runtime(file)
        dependencies.append({"ref": file.name, "dependsOn": needs})
    components += [{"type": "library", "bom-ref": name, "name": name} for name in sorted(others | {"python3-numpy"})]
    if any(CUDA_RUNTIME["bom-ref"] in entry["dependsOn"] for entry in dependencies):
        components.append(CUDA_RUNTIME)
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components, "dependencies": dependencies}
    print(json.dumps(bill, indent=1, sort_keys=True))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
