dependencyResolutionManagement {
    repositories {
        mavenCentral()
    }
}

rootProject.name = "buildSrc"
