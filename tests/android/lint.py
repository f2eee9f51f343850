#!/usr/bin/env python3
"""Runs Android's lint over the app and the chat, as the Gradle build does, and ends with an error for anything it finds.
What stays, and why, is in lint.xml; there is no baseline.

Lint's own list of API levels comes with an SDK only, so newer APIs are not its business here: see newapi in check-android.

Usage: lint.py ANDROID OUT
"""

import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from xml.sax.saxutils import quoteattr

HERE = pathlib.Path(__file__).resolve().parent
ANDROID, OUT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
LINKED = HERE / "resources/target/linked"
# What the sources are compiled with, and where it is called what.
CLASSES = ["jvm/bindings", "jvm/bridge", "android/chat", "android/resources", "android/androidx"]


def element(tag, **attributes):
    return f"<{tag} " + " ".join(f"{name.replace('_', '-')}={quoteattr(str(value))}" for name, value in attributes.items()) + "/>"


def sources(folder):
    return [element("src", file=file) for file in sorted(folder.rglob("*.kt"))]


def module(name, is_library, folder, parts):
    head = f'<module name="{name}" android="true" library="{str(is_library).lower()}" compile-sdk-version="36">'
    return "\n".join([head, *parts, *sources(ANDROID / folder / "src/main/kotlin"), "</module>"])


def disabled():
    """What the Gradle build does not look for either."""
    text = (ANDROID / "app/build.gradle.kts").read_text()
    found = re.search(r"disable \+= setOf\(([^)]*)\)", text)
    return re.findall(r'"(\w+)"', found[1]) if found else []


def check_translations():
    """Started in this way, lint does not look for missing translations."""

    def names(folder):
        nodes = (node for file in folder.glob("*.xml") for node in ET.parse(file).getroot().iter("string"))
        return {node.get("name") for node in nodes if node.get("translatable") != "false"}

    res = ANDROID / "app/src/main/res"
    for folder in sorted(res.glob("values-*")):
        there = names(folder)
        if there and there != names(res / "values"):
            sys.exit(f"MissingTranslation: {folder.name} and values differ in {', '.join(there ^ names(res / 'values'))}")


def main():
    check_translations()
    (OUT / "cache").mkdir(parents=True, exist_ok=True)
    jars = [HERE.parent / part / "target/classes" for part in CLASSES]
    jars += (HERE / "app/target/classpath").read_text().split(":")
    classpath = [element("classpath", jar=jar) for jar in jars]
    resources = [element("resource", file=file) for file in sorted((ANDROID / "app/src/main/res").rglob("*.xml"))]
    app = [
        element("manifest", file=ANDROID / "app/src/main/AndroidManifest.xml"),
        element("merged-manifest", file=LINKED / "AndroidManifest.xml"),
        element("proguard", file=ANDROID / "app/proguard-rules.pro"),
        *resources,
        '<dep module="chat"/>',
        *classpath,
    ]
    project = OUT / "project.xml"
    text = ["<project>", element("root", dir=OUT), element("cache", dir=OUT / "cache")]
    text += [module("app", False, "app", app), module("chat", True, "chat", classpath), "</project>"]
    project.write_text("\n".join(text))
    command = ["java", "-Xmx2g", "-XX:TieredStopAtLevel=1", "-cp", (HERE / "tools/lint/target/classpath").read_text()]
    command += ["com.android.tools.lint.Main", "--project", project, "--exitcode", "-Werror", "--quiet"]
    command += ["--config", HERE / "lint.xml", "--disable", ",".join(disabled()), "--text", OUT / "lint.txt"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": str(OUT)})
    if done.returncode:
        report = OUT / "lint.txt"
        sys.exit((report.read_text() if report.exists() else "") + done.stdout + done.stderr)


main()
