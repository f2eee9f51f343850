#!/usr/bin/env python3
"""Asks Maven for every library and plugin of the catalogue: a name or a version that does not exist is an error.

Usage: coordinates.py ANDROID
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ET

RESOLVE = "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:resolve"
NS = "{http://maven.apache.org/POM/4.0.0}"
REPOSITORY = pathlib.Path.home() / ".m2/repository"
ANY = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"


def pom_file(group, artifact, version):
    return REPOSITORY / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.pom"


def resolve(coordinates):
    """Fetches the POMs, and ends with Maven's words if one is not there."""
    missing = [item for item in coordinates if not pom_file(*item).exists()]
    if not missing:
        return
    entries = "".join(
        f"<dependency><groupId>{g}</groupId><artifactId>{a}</artifactId><version>{v}</version><type>pom</type>{ANY}</dependency>"
        for g, a, v in missing
    )
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "pom.xml").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>t</artifactId><version>0</version>"
            f"<packaging>pom</packaging><dependencies>{entries}</dependencies></project>"
        )
        done = subprocess.run(["mvn", "-q", "-B", "-ntp", RESOLVE], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        # Maven has other words for what it did not find the last time either.
        found = re.findall(r"(?:Could not find artifact|Failure to find) (\S+)|(\S+) was not found in", done.stdout)
        names = sorted({first or second for first, second in found})
        sys.exit("not to be had: " + ", ".join(names) if names else done.stdout)


def managed(bom):
    """What a BOM says: {(group, artifact): version}."""
    root = ET.parse(pom_file(*bom)).getroot()
    return {
        (node.findtext(NS + "groupId").replace("${project.groupId}", bom[0]), node.findtext(NS + "artifactId")):
        (node.findtext(NS + "version") or "").replace("${project.version}", bom[2])
        for node in root.iter(NS + "dependency")
    }  # fmt: skip


def main():
    text = tomllib.loads((pathlib.Path(sys.argv[1]) / "gradle/libs.versions.toml").read_text())

    def version(entry):
        return text["versions"][entry["version"]["ref"]] if "version" in entry else None

    libraries = [(*entry["module"].split(":"), version(entry)) for entry in text["libraries"].values()]
    boms = [library for library in libraries if library[1].endswith("-bom")]
    # A plugin's id stands for a POM with a name of a fixed form.
    plugins = [(entry["id"], entry["id"] + ".gradle.plugin", version(entry)) for entry in text["plugins"].values()]
    resolve(boms)
    said = {}
    for bom in boms:
        said |= managed(bom)
    without = [library[:2] for library in libraries if not library[2] and library[:2] not in said]
    if without:
        sys.exit("no version, and in no BOM: " + ", ".join(":".join(library) for library in without))
    resolve([(group, artifact, version or said[group, artifact]) for group, artifact, version in libraries])
    resolve(plugins)


main()
