"""POMs in Maven's own repository; those that are not there yet, Maven fetches."""

import pathlib
import re
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path.home() / ".m2/repository"
NS = "{http://maven.apache.org/POM/4.0.0}"
RESOLVE = "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:resolve"


def pom_file(group, artifact, version):
    return REPOSITORY / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.pom"


def dependency_xml(group, artifact, version, kind):
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        f"<type>{kind}</type><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
        "</exclusions></dependency>"
    )


def fetch(poms):
    """Ends with Maven's words if one of these POMs is not to be had."""
    missing = [pom for pom in poms if not pom_file(*pom).exists()]
    if not missing:
        return
    with tempfile.TemporaryDirectory() as folder:
        dependencies = "".join(dependency_xml(*pom, "pom") for pom in missing)
        (pathlib.Path(folder) / "pom.xml").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>t</artifactId><version>0</version>"
            f"<packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
        )
        done = subprocess.run(["mvn", "-q", "-B", "-ntp", RESOLVE], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        # Maven has other words for what it did not find the last time either.
        found = re.findall(r"(?:Could not find artifact|Failure to find) (\S+)|(\S+) was not found in", done.stdout)
        names = sorted({first or second for first, second in found})
        sys.exit("not to be had: " + ", ".join(names) if names else done.stdout)
