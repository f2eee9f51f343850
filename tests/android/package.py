#!/usr/bin/env python3
"""A packaging check and nothing more: shrinks the app with R8 and the app's rules, puts the result and the linked resources
into an APK without native libraries, aligns it and signs it with a key that is thrown away. Such an APK installs nowhere of
use. Then shrinks bridge and bindings for the JVM by the same rules, with a small program that opens the core and has a message
answered (shrunk/), and runs it, which shows that the rules keep what JNA looks for by name.

Usage: package.py ANDROID OUT LIBRARIES [--bindings]

LIBRARIES: where cargo put the core's library for this machine; --bindings: only the second part.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ANDROID, OUT, LIBRARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
LINKED = HERE / "resources/target/linked"
BRIDGE = ["../jvm/bindings", "../jvm/bridge"]
APP = [*BRIDGE, "chat", "app", "resources", "androidx"]
MIN_SDK = "26"


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed\n{done.stdout}{done.stderr}")
    return done.stdout


def jar_of(folder, name):
    """R8 takes archives only."""
    jar = OUT / f"{name}.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.suffix == ".class" or (file.is_file() and "META-INF/com.android.tools" in str(file)):
                archive.write(file, file.relative_to(folder))
    return jar


def inputs(parts):
    ours = [jar_of((HERE / part / "target/classes").resolve(), part.split("/")[-1]) for part in parts]
    # The framework is on the phone, and JNA comes as an AAR there with the same classes.
    others = [jar for jar in (HERE / "app/target/classpath").read_text().split(":") if "android-all" not in jar]
    return ours + others


def framework():
    return next(jar for jar in (HERE / "app/target/classpath").read_text().split(":") if "android-all" in jar)


def embedded(jars):
    """Rules that a library has inside its jar, for this R8."""
    found = OUT / "embedded.pro"
    with found.open("w") as out:
        for jar in jars:
            with zipfile.ZipFile(jar) as archive:
                names = [name for name in archive.namelist() if re.match(r"META-INF/com.android.tools/r8(-from-[^/]*)?/.", name)]
                names = names or [name for name in archive.namelist() if re.match("META-INF/proguard/.", name)]
                out.writelines(archive.read(name).decode() + "\n" for name in names if "-upto-" not in name)
    return found


def rules(jars):
    """The app's, the libraries' and those of the linked resources, in the order of the Gradle plugin."""
    consumers = [*sorted((HERE / "androidx/target/aars").glob("*/proguard.txt")), embedded(jars)]
    # The part of the plugin's own file that matters here.
    default = OUT / "default.pro"
    default.write_text(
        "-keepattributes AnnotationDefault,EnclosingMethod,InnerClasses,RuntimeVisible*Annotations,Signature\n"
        "-keepclasseswithmembernames,includedescriptorclasses class * { native <methods>; }\n"
        "-keepclassmembers enum * { public static **[] values(); public static ** valueOf(java.lang.String); }\n"
        "-dontwarn androidx.**\n"
    )
    return [default, ANDROID / "app/proguard-rules.pro", LINKED / "proguard.txt", *consumers]


def r8(jars, out, *options):
    arguments = ["java", "-Xmx3g", "-cp", (HERE / "tools/r8/target/classpath").read_text(), "com.android.tools.r8.R8"]
    # Android's jar is without Java's own classes; the JDK's stand in for them.
    java = pathlib.Path(shutil.which("javac")).resolve().parent.parent
    arguments += ["--release", *options, "--lib", framework(), "--lib", java, "--output", out]
    for file in rules(jars):
        arguments += ["--pg-conf", file]
    run(*arguments, *jars)


def apk(dex):
    unsigned, aligned, signed = (OUT / f"{name}.apk" for name in ("unsigned", "aligned", "signed"))
    shutil.copy(LINKED / "resources.ap_", unsigned)
    with zipfile.ZipFile(unsigned, "a", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(dex.glob("*.dex")):
            archive.write(file, file.name)
    run("zipalign", "-f", "-p", "4", unsigned, aligned)
    key = OUT / "throw-away.p12"
    run("keytool", "-genkeypair", "-keystore", key, "-storetype", "PKCS12", "-storepass", "android", "-alias", "a",
        "-keyalg", "EC", "-dname", "CN=nobody", "-validity", "1")  # fmt: skip
    run("apksigner", "sign", "--ks", key, "--ks-pass", "pass:android", "--min-sdk-version", MIN_SDK, "--out", signed, aligned)
    said = run("apksigner", "verify", "--verbose", "--min-sdk-version", MIN_SDK, signed)
    if "v2 scheme (APK Signature Scheme v2): true" not in said:
        sys.exit(said)
    print(f"{signed.stat().st_size // 1024} KB without native libraries")


def try_shrunk():
    """The bridge and the bindings as R8 leaves them, with the real core, on the JVM."""
    jars = inputs(BRIDGE)
    classes, shrunk, rule = OUT / "program", OUT / "shrunk.jar", OUT / "program.pro"
    run("javac", "-nowarn", "-d", classes, "-cp", ":".join(map(str, jars)), HERE / "shrunk/Shrunk.java")
    rule.write_text("-keep class Shrunk { public static void main(java.lang.String[]); }\n")
    r8([*jars, jar_of(classes, "program")], shrunk, "--classfile", "--pg-conf", rule)
    # JNA's own library for this machine is a resource of its jar.
    with zipfile.ZipFile(shrunk, "a") as archive:
        with zipfile.ZipFile(next(jar for jar in map(str, jars) if "/jna-" in jar)) as jna:
            name = "com/sun/jna/linux-x86-64/libjnidispatch.so"
            if name not in archive.namelist():
                archive.writestr(name, jna.read(name))
    run("java", "-XX:TieredStopAtLevel=1", f"-Djna.library.path={LIBRARIES}", "-cp", shrunk, "Shrunk", OUT)


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "dex").mkdir(parents=True)
    if sys.argv[4:] != ["--bindings"]:
        r8(inputs(APP), OUT / "dex", "--min-api", MIN_SDK)
        apk(OUT / "dex")
    try_shrunk()


main()
