#!/usr/bin/env python3
"""Does to the app's manifest and resources what the Android Gradle plugin does: merges, compiles and links them.

Writes into OUT: AndroidManifest.xml (merged), resources.ap_, R.txt, java/ (R classes of the app and of all libraries),
proguard.txt (what the manifest names) and test/com/android/tools/test_config.properties, by which Robolectric finds them.

Usage: resources.py APP AARS TOOLS OUT
"""

import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

APP, AARS, TOOLS, OUT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
ANDROID = "{http://schemas.android.com/apk/res/android}"
AAPT2 = TOOLS / "aapt2/target/dependency/prebuilt/linux/aapt2"
FRAMEWORK = TOOLS / "aapt2/target/dependency/prebuilt/android-framework.jar"


def fail(what, output=""):
    sys.exit(f"{what}\n{output}".rstrip())


def gradle(name):
    """A value of the android block."""
    found = re.search(rf'^\s*{name}\s*=\s*"?([^"\s]+)"?', (APP / "build.gradle.kts").read_text(), re.M)
    return found[1] if found else fail(f"app/build.gradle.kts has no {name}")


def run(what, *command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        fail(what, done.stdout + done.stderr)
    return done.stdout + done.stderr


def package(manifest):
    return ET.parse(manifest).getroot().get("package")


def merge(libraries):
    namespace = gradle("namespace")
    # The plugin takes the package from the build file, the merger from the manifest.
    main = OUT / "main-manifest.xml"
    main.write_text((APP / "src/main/AndroidManifest.xml").read_text().replace("<manifest", f'<manifest package="{namespace}"', 1))
    properties = {
        "PACKAGE": gradle("applicationId"),
        "MIN_SDK_VERSION": gradle("minSdk"),
        "TARGET_SDK_VERSION": gradle("targetSdk"),
        "VERSION_CODE": gradle("versionCode"),
        "VERSION_NAME": gradle("versionName"),
    }
    said = run(
        "the manifests cannot be merged",
        "java", "-XX:TieredStopAtLevel=1", "-cp", (TOOLS / "merger/target/classpath").read_text(),
        "com.android.manifmerger.Merger",
        "--main", main,
        "--libs", ":".join(str(library / "AndroidManifest.xml") for library in libraries),
        *(part for name, value in properties.items() for part in ("--property", f"{name}={value}")),
        "--remove-tools-declarations",
        "--out", OUT / "AndroidManifest.xml",
    )  # fmt: skip
    # The merger ends well after an error that it could work around.
    if "Error" in said or not (OUT / "AndroidManifest.xml").exists():
        fail("the manifests cannot be merged", said)


def link(libraries):
    compiled = OUT / "compiled"
    compiled.mkdir()
    parts = []
    for number, res in enumerate([library / "res" for library in libraries] + [APP / "src/main/res"]):
        if res.is_dir() and any(res.iterdir()):
            part = compiled / f"{number:03}.zip"
            run(f"{res} cannot be compiled", AAPT2, "compile", "--dir", res, "-o", part)
            parts += ["-R", part]
    packages = sorted({package(library / "AndroidManifest.xml") for library in libraries} - {None})
    run(
        "the resources cannot be linked",
        AAPT2, "link", "-I", FRAMEWORK,
        "--manifest", OUT / "AndroidManifest.xml", "--auto-add-overlay", *parts,
        "--custom-package", gradle("namespace"), "--extra-packages", ":".join(packages),
        "--java", OUT / "java", "--output-text-symbols", OUT / "R.txt",
        "--proguard", OUT / "proguard.txt", "--no-static-lib-packages",
        "-o", OUT / "resources.ap_",
    )  # fmt: skip


def write_test_config():
    config = OUT / "test/com/android/tools/test_config.properties"
    config.parent.mkdir(parents=True)
    assets = APP / "src/main/assets"
    lines = [
        f"android_merged_manifest={OUT / 'AndroidManifest.xml'}",
        f"android_resource_apk={OUT / 'resources.ap_'}",
        f"android_custom_package={gradle('namespace')}",
        f"android_merged_assets={assets}",
    ]
    config.write_text("\n".join(lines) + "\n")


libraries = sorted(folder for folder in AARS.iterdir() if folder.is_dir())
shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
merge(libraries)
link(libraries)
write_test_config()
