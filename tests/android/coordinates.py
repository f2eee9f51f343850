#!/usr/bin/env python3
"""Asks Maven for every library and plugin of the catalogue: a name or a version that does not exist is an error.

Usage: coordinates.py ANDROID
"""

import pathlib
import sys
import tomllib
import xml.etree.ElementTree as ET

from maven import NS, fetch, pom_file


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
    fetch(boms)
    said = {}
    for bom in boms:
        said |= managed(bom)
    without = [library[:2] for library in libraries if not library[2] and library[:2] not in said]
    if without:
        sys.exit("no version, and in no BOM: " + ", ".join(":".join(library) for library in without))
    fetch([(group, artifact, version or said[group, artifact]) for group, artifact, version in libraries])
    fetch(plugins)


main()
