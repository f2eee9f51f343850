#!/usr/bin/env python3
"""Compiles the Gradle scripts of app and chat, and buildSrc, as ordinary Kotlin: against the API of the Android plugin, an
older Gradle's API, and gradle/Prelude.kt for what the scripts have round them. Of the other scripts only the syntax is looked
at. Nothing is run: whether the build works, Gradle alone can say.

Usage: gradle.py ANDROID OUT
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ANDROID, OUT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
# The extensions that the plugins add to the modules' scripts.
EXTENSIONS = {"app": "Application", "chat": "Library"}


def classpath(tool):
    return (HERE / "tools" / tool / "target/classpath").read_text()


def kotlinc(*arguments):
    jars = classpath("kotlinc").split(":")
    plugins = [f"-Xplugin={jar}" for jar in jars if re.search("assignment|sam-with-receiver", jar)]
    options = [
        "-P", "plugin:org.jetbrains.kotlin.samWithReceiver:annotation=org.gradle.api.HasImplicitReceiver",
        "-P", "plugin:org.jetbrains.kotlin.assignment:annotation=org.gradle.api.SupportsKotlinAssignmentOverloading",
    ]  # fmt: skip
    command = ["java", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", ":".join(jars), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"]
    command += [*plugins, *options, "-no-stdlib", "-no-reflect", "-jvm-target", "17", "-nowarn", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def catalogue_kotlin():
    """The accessors `libs.…`, of which each can be a library and have others below it."""
    text = tomllib.loads((ANDROID / "gradle/libs.versions.toml").read_text())
    tree = {}
    for section, kind in (("libraries", ""), ("plugins", "plugins.")):
        for alias in text[section]:
            node = tree
            for part in (kind + alias.replace("-", ".")).split("."):
                node = node.setdefault(part, {})
            node[""] = section
    types = {
        "libraries": "org.gradle.api.provider.Provider<org.gradle.api.artifacts.MinimalExternalModuleDependency>",
        "plugins": "org.gradle.api.provider.Provider<org.gradle.plugin.use.PluginDependency>",
    }
    lines = []

    def write(name, node):
        base = f" : {types[node['']]}" if "" in node else ""
        children = [f"    val {part}: {name}_{part}" for part in node if part]
        lines.append(f"interface {name}{base} {{\n" + "\n".join(children) + "\n}")
        for part in node:
            if part:
                write(f"{name}_{part}", node[part])

    write("Libs", tree)
    return "\n".join(lines) + '\nval libs: Libs get() = error("only types")\n'


def wrapped(script, name, before=""):
    """The script as the body of a function; its imports stay in front."""
    text = script.read_text()
    imports = "".join(line + "\n" for line in text.splitlines() if line.startswith("import "))
    body = "\n".join("" if line.startswith("import ") else line for line in text.splitlines())
    return f"import org.gradle.api.*\n{imports}{before}abstract class {name} : org.gradle.api.Project {{ init {{\n{body}\n}} }}\n"


def accessors(kind):
    return (
        f"private fun org.gradle.api.Project.android(block: com.android.build.api.dsl.{kind}Extension.() -> Unit) = Unit\n"
        f"private val org.gradle.api.Project.android: com.android.build.api.dsl.{kind}Extension get() = error(\"only types\")\n"
        "private fun org.gradle.api.Project.androidComponents("
        f"block: com.android.build.api.variant.{kind}AndroidComponentsExtension.() -> Unit) = Unit\n"
    )


def check_types():
    sources = OUT / "types"
    sources.mkdir()
    (sources / "Catalogue.kt").write_text(catalogue_kotlin())
    for module, kind in EXTENSIONS.items():
        script = ANDROID / module / "build.gradle.kts"
        (sources / f"{module}.build.gradle.kt").write_text(wrapped(script, f"Script_{module}", accessors(kind)))
    tasks = ANDROID / "buildSrc/src/main/kotlin"
    done = kotlinc("-cp", classpath("agp"), "-d", OUT / "classes", HERE / "gradle/Prelude.kt", tasks, sources)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def check_syntax():
    sources = OUT / "syntax"
    sources.mkdir()
    for number, script in enumerate(sorted(ANDROID.rglob("*.gradle.kts"))):
        name = f"{script.parent.name}.{script.name.replace('.kts', '')}.kt"
        (sources / name).write_text(wrapped(script, f"Script_{number}"))
    done = kotlinc("-d", OUT / "nothing", sources)
    wrong = [line for line in (done.stdout + done.stderr).splitlines() if "yntax error" in line]
    if wrong:
        sys.exit("\n".join(wrong))


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
check_types()
check_syntax()
