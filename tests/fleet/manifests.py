# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Kubernetes manifests of examples/fleet: against the schemas of Kubernetes, and against fleet.py.

The first needs kubernetes-validate (PyPI), the second PyYAML; with kubectl the GPU variant is made and validated too.
"""
import importlib.util
import re
import shutil
import subprocess
import sys
import unittest

import parts

if not importlib.util.find_spec("yaml"):
    print("skipped: no PyYAML")
    sys.exit(77)

import yaml

FOLDER = parts.FLEET / "kubernetes"


def documents(path):
    return [document for document in yaml.safe_load_all(path.read_text("utf-8")) if document]


class Manifests(unittest.TestCase):
    def validate(self, document):
        if not importlib.util.find_spec("kubernetes_validate"):
            self.skipTest("no kubernetes-validate")
        import kubernetes_validate
        kubernetes_validate.validate(document, "1.31", strict=True)

    def test_schemas(self):
        n_documents = 0
        for path in sorted((FOLDER / "base").glob("*.yaml")):
            if path.name not in ("kustomization.yaml", "fleet.yaml"):
                for document in documents(path):
                    self.validate(document)
                    n_documents += 1
        self.assertEqual(n_documents, 3)

    def test_faults_are_found(self):
        document = documents(FOLDER / "base" / "cameras.yaml")[0]
        document["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
        try:
            self.validate(document)
        except unittest.SkipTest:
            raise
        except Exception as error:
            self.assertIn("livenesProbe", str(error))
        else:
            self.fail("a misspelt key passes")

    def test_with_gpu(self):
        if not shutil.which("kubectl"):
            self.skipTest("no kubectl")
        text = subprocess.run(["kubectl", "kustomize", FOLDER / "gpu"], capture_output=True, text=True, check=True).stdout
        made = {document["kind"] + "/" + re.sub("-[0-9a-z]{10}$", "", document["metadata"]["name"]): document
                for document in yaml.safe_load_all(text)}
        self.assertEqual(set(made), {"Namespace/fleet", "ConfigMap/fleet", "Job/cameras", "Job/archive"})
        container, = made["Job/cameras"]["spec"]["template"]["spec"]["containers"]
        self.assertEqual(container["resources"]["limits"]["nvidia.com/gpu"], 1)
        self.assertIn("livenessProbe", container)
        for document in made.values():
            self.validate(document)

    def test_commands(self):
        """fleet.py knows the commands and options of the pods and their probes, and the file is good."""
        known = (parts.FLEET / "fleet.py").read_text("utf-8")
        commands = []
        for name in ("cameras.yaml", "archive.yaml"):
            for document in documents(FOLDER / "base" / name):
                container, = document["spec"]["template"]["spec"]["containers"]
                commands.append(container["args"])
                commands += [container[probe]["exec"]["command"][2:] for probe in container if probe.endswith("Probe")]
        self.assertEqual(len(commands), 5)
        for command in commands:
            self.assertIn(f"def {command[0]}(", known)
            for option in command[1:]:
                if option.startswith("--"):
                    self.assertIn(f'"{option}"', known)
        run = subprocess.run([sys.executable, parts.FLEET / "fleet.py", "archive", FOLDER / "base" / "fleet.yaml", "/nowhere",
                              "--shard", "4/4"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2, run)

    def test_number_of_shards(self):
        for name in ("cameras.yaml", "archive.yaml"):
            job = documents(FOLDER / "base" / name)[0]["spec"]
            container, = job["template"]["spec"]["containers"]
            shards = [variable["value"] for variable in container.get("env", ()) if variable["name"] == "FLEET_SHARDS"]
            shards += re.findall(r"/(\d+)$", "\n".join(container["args"]), re.MULTILINE)
            self.assertEqual({job["completions"], job["parallelism"], *map(int, shards)}, {4})


if __name__ == "__main__":
    unittest.main(verbosity=2)
