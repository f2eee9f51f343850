import org.jetbrains.kotlin.gradle.dsl.JvmTarget

// Plain Kotlin for the JVM: it has nothing of Android's, so the app, the desktop and the tests use the same jar.
plugins {
    alias(libs.plugins.kotlin.jvm)
    `java-library`
    `java-test-fixtures`
}

val hostLibrary = tasks.register<HostLibraryTask>("hostLibrary")
val generateBindings = tasks.register<BindingsTask>("generateBindings") {
    library = hostLibrary.flatMap { it.library }
    bindings = layout.buildDirectory.dir("generated/uniffi")
}

java {
    sourceCompatibility = JavaVersion.VERSION_17
    targetCompatibility = JavaVersion.VERSION_17
}

kotlin {
    compilerOptions.jvmTarget = JvmTarget.JVM_17
    sourceSets {
        // src/bindings needs what is internal to the generated code, so both are in one module.
        named("main") { kotlin.srcDirs(generateBindings.flatMap { it.bindings }, "src/bindings/kotlin") }
        named("test") { kotlin.srcDir("src/bindingsTest/kotlin") }
    }
}

dependencies {
    api(libs.coroutines.core)
    // The generated classes extend its own, so whoever compiles against them needs it too. On a phone it comes as an archive
    // with libraries for phones, elsewhere as a jar: whoever runs it says which.
    compileOnlyApi(libs.jna)

    testImplementation(libs.jna)
    testImplementation(libs.coroutines.test)
    testImplementation(libs.kotlin.test.junit5)
    testImplementation(platform(libs.junit5.bom))
    testImplementation(libs.junit5.jupiter)
    testRuntimeOnly(libs.junit5.launcher)
}

tasks.test {
    dependsOn(hostLibrary)
    useJUnitPlatform()
    val target = cargoTarget(rootDir.parentFile).resolve("debug")
    systemProperty("jna.library.path", target.path)
    systemProperty("oneclaw.cli", target.resolve("oneclaw").path)
}
