#!/usr/bin/env python3
"""Writes androidx/pom.xml and androidx-test/pom.xml: every AAR and jar below the app's dependencies, as a flat list.

Maven cannot find these versions by itself: it takes the nearest version where Gradle takes the newest, knows no BOM for AARs,
and stumbles over exact ranges of old versions. So this does what Gradle does: the newest version that anything asks for,
after the Compose BOM. To be run when the catalogue has changed; scripts/check-android says so.

Usage: closure.py                  writes the two files
       closure.py --check ANDROID  only says whether the direct dependencies stand there with the catalogue's versions, and
                                   whether the builds on the host name the same versions as the catalogue
"""

import pathlib
import re
import sys
import tomllib
import xml.etree.ElementTree as ET

from maven import NS, dependency_xml, fetch, pom_file

HERE = pathlib.Path(__file__).resolve().parent
ANDROID = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "../../android"
BOM = "androidx.compose:compose-bom"
# Modules of one group are released together; a POM alone does not say so.
ALIGNED = {"androidx.lifecycle", "androidx.activity", "androidx.savedstate"}
# Given by the parent of all modules, or by the tests' module itself.
ELSEWHERE = re.compile(r"org\.jetbrains\.kotlin:|net\.java\.dev\.jna:|org\.robolectric:")
# Properties of the builds on the host, and what the catalogue calls them.
SAME = {
    "jvm": {
        "kotlin": "kotlin",
        "coroutines": "coroutines",
        "jna": "jna",
        "junit": "junit5",
        "compose": "compose-multiplatform",
        "material3": "material3-multiplatform",
        "icons": "icons-multiplatform",
        "lifecycle": "lifecycle",
    },
    "android": {"robolectric": "robolectric", "agp": "agp"},
    "room": {"kotlin": "kotlin", "ksp": "ksp", "room": "room", "coroutines": "coroutines", "junit": "junit5"},
}
USE = re.compile(r"^\s*(\w+)\((?:platform\()?libs\.((?!plugins)[\w.]+)\)", re.M)


def version_key(version):
    return [int(part) if part.isdigit() else -1 for part in re.split(r"[.\-+]", version)]


def read_dependencies(group, artifact, version):
    root = ET.parse(pom_file(group, artifact, version)).getroot()
    for node in root.findall(f"{NS}dependencies/{NS}dependency"):
        if node.findtext(NS + "scope", "compile") in ("compile", "runtime") and node.findtext(NS + "optional") != "true":
            yield (
                node.findtext(NS + "groupId").replace("${project.groupId}", group),
                node.findtext(NS + "artifactId"),
                (node.findtext(NS + "version") or "").strip("[]"),
            )


def packaging(module, version):
    return ET.parse(pom_file(*module, version)).getroot().findtext(NS + "packaging") or "jar"


def read_catalogue():
    """The catalogue's versions, and its libraries: {alias: (group, artifact, version or None)}."""
    text = tomllib.loads((ANDROID / "gradle/libs.versions.toml").read_text())
    libraries = {}
    for alias, entry in text["libraries"].items():
        version = text["versions"][entry["version"]["ref"]] if "version" in entry else None
        libraries[re.sub("[-_]", ".", alias)] = (*entry["module"].split(":"), version)
    return text["versions"], libraries


def read_roots(libraries):
    """What app and chat ask for by themselves: two of {(group, artifact): version or None}, for the app and for its tests."""
    app, tests = {}, {}
    for module in ("app", "chat"):
        for use, alias in USE.findall((ANDROID / module / "build.gradle.kts").read_text()):
            group, artifact, version = libraries[alias]
            if ELSEWHERE.match(f"{group}:{artifact}") or re.match("debug|ksp", use) or f"{group}:{artifact}" == BOM:
                continue
            (tests if re.search("[tT]est", use) else app)[group, artifact] = version
    return app, tests


def resolve(roots, pinned):
    """The newest version of everything below the roots."""
    newest, read = dict(roots), set()
    while todo := [(*module, version) for module, version in newest.items() if (*module, version) not in read]:
        fetch(todo)
        for item in todo:
            read.add(item)
            for group, artifact, version in read_dependencies(*item):
                version = pinned.get((group, artifact), version)
                if version and "$" not in version and not ELSEWHERE.match(f"{group}:{artifact}"):
                    known = newest.get((group, artifact))
                    if known is None or version_key(version) > version_key(known):
                        newest[group, artifact] = version
        for module in newest:
            if module[0] in ALIGNED:
                newest[module] = max((v for m, v in newest.items() if m[0] == module[0]), key=version_key)
    return newest


def below(roots, newest):
    """What the roots reach, without the empty heads of multiplatform modules."""
    found, stack = set(), list(roots)
    while stack:
        module = stack.pop()
        if module not in found and module in newest:
            found.add(module)
            stack += [(group, artifact) for group, artifact, _ in read_dependencies(*module, newest[module])]
    parts = {(group, artifact + suffix) for group, artifact in found for suffix in ("-android", "-jvm")}
    heads = {(group, re.sub("-(android|jvm)$", "", artifact)) for group, artifact in found & parts}
    # Where there is a variant for Android and one for any JVM, Gradle takes the first.
    heads |= {(group, artifact.removesuffix("-android") + "-jvm") for group, artifact in found if artifact.endswith("-android")}
    return {m for m in found if m not in heads and packaging(m, newest[m]) != "pom"}


def write(name, title, modules, newest):
    lines = "\n".join("    " + dependency_xml(*m, newest[m], packaging(m, newest[m])) for m in sorted(modules))
    template = (HERE / "androidx.template.xml").read_text()
    text = template.replace("@name@", name).replace("@title@", title).replace("@dependencies@", lines)
    (HERE / name / "pom.xml").write_text(text)


def check(roots):
    text = (HERE / "androidx/pom.xml").read_text() + (HERE / "androidx-test/pom.xml").read_text()
    wrong = []
    for (group, artifact), version in roots.items():
        names = "|".join(re.escape(artifact) + suffix for suffix in ("", "-android", "-jvm"))
        found = re.search(rf"<groupId>{re.escape(group)}</groupId><artifactId>(?:{names})</artifactId><version>([^<]*)", text)
        if not found:
            wrong.append(f"{group}:{artifact} is missing")
        elif version and version_key(found[1]) < version_key(version):
            wrong.append(f"{group}:{artifact} is {found[1]}, the catalogue says {version}")
    if wrong:
        sys.exit("run tests/android/closure.py: " + "; ".join(wrong))


def check_properties(versions):
    wrong = []
    for build, names in SAME.items():
        properties = ET.parse(HERE.parent / build / "pom.xml").getroot().find(NS + "properties")
        wanted = {name: versions[alias] for name, alias in names.items()}
        if build == "android":
            # Lint and the manifest merger count from 23.
            major, rest = versions["agp"].split(".", 1)
            wanted["tools"] = f"{int(major) + 23}.{rest}"
        for name, version in wanted.items():
            found = properties.findtext(f"{NS}{name}.version")
            if found != version:
                wrong.append(f"{name}.version in tests/{build}/pom.xml is {found}, by the catalogue it is {version}")
    if wrong:
        sys.exit("; ".join(wrong))


def main():
    versions, libraries = read_catalogue()
    app, tests = read_roots(libraries)
    if sys.argv[1:2] == ["--check"]:
        check_properties(versions)
        return check(app | tests)
    bom = next(library for library in libraries.values() if ":".join(library[:2]) == BOM)
    fetch([bom])
    pinned = {
        (node.findtext(NS + "groupId"), node.findtext(NS + "artifactId")): node.findtext(NS + "version")
        for node in ET.parse(pom_file(*bom)).iter(NS + "dependency")
    }
    newest = resolve({module: version or pinned[module] for module, version in (app | tests).items()}, pinned)
    of_app = below(app, newest)
    write("androidx", "AndroidX for the app, in one jar", of_app, newest)
    write("androidx-test", "AndroidX for the app's tests, in one jar", below(tests, newest) - of_app, newest)


main()
