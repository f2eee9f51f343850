#!/usr/bin/env python3
"""Unpacks the AARs in FOLDER/packed to FOLDER/aars, and their classes to FOLDER/classes.

Usage: aars.py FOLDER
"""

import io
import pathlib
import shutil
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
packed = sorted((folder / "packed").glob("*.aar"))
done = folder / "aars/done"
names = "\n".join(aar.name for aar in packed)
# Released files never change: the same names are the same contents.
if done.exists() and done.read_text() == names:
    sys.exit()
for old in ("aars", "classes"):
    shutil.rmtree(folder / old, ignore_errors=True)
(folder / "classes").mkdir()
for aar in packed:
    into = folder / "aars" / aar.stem
    with zipfile.ZipFile(aar) as archive:
        archive.extractall(into)
        for name in archive.namelist():
            # Beside its own classes an AAR may have jars that it brings along.
            if name == "classes.jar" or (name.startswith("libs/") and name.endswith(".jar")):
                with zipfile.ZipFile(io.BytesIO(archive.read(name))) as classes:
                    classes.extractall(folder / "classes")
shutil.rmtree(folder / "classes/META-INF/maven", ignore_errors=True)
done.write_text(names)
