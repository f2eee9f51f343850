import org.jetbrains.kotlin.gradle.dsl.JvmTarget

// The app in a window. It compiles the sources of :chat a second time, as Compose for Android and for the desktop are two
// sets of libraries; see docs/adr/0012.
plugins {
    alias(libs.plugins.kotlin.jvm)
    alias(libs.plugins.kotlin.compose)
    alias(libs.plugins.compose.multiplatform)
}

val rustTarget = cargoTarget(rootDir.parentFile).resolve("debug")

java {
    sourceCompatibility = JavaVersion.VERSION_17
    targetCompatibility = JavaVersion.VERSION_17
}

kotlin {
    compilerOptions.jvmTarget = JvmTarget.JVM_17
    sourceSets {
        named("main") { kotlin.srcDir("../chat/src/main/kotlin") }
        named("test") {
            kotlin.srcDir("../chat/src/test/kotlin")
            languageSettings.optIn("kotlinx.coroutines.ExperimentalCoroutinesApi")
            languageSettings.optIn("androidx.compose.ui.test.ExperimentalTestApi")
        }
    }
}

dependencies {
    implementation(project(":bridge"))
    implementation(libs.jna)
    implementation(compose.desktop.currentOs)
    implementation(libs.multiplatform.foundation)
    implementation(libs.multiplatform.material3)
    implementation(libs.multiplatform.icons)
    implementation(libs.multiplatform.ui.tooling.preview)
    implementation(libs.lifecycle.runtime.compose)
    implementation(libs.coroutines.swing)

    testImplementation(testFixtures(project(":bridge")))
    testImplementation(libs.coroutines.test)
    testImplementation(libs.kotlin.test.junit5)
    testImplementation(platform(libs.junit5.bom))
    testImplementation(libs.junit5.jupiter)
    testImplementation(libs.multiplatform.ui.test.junit4)
    testRuntimeOnly(libs.junit5.launcher)
}

compose.desktop {
    application {
        mainClass = "com.oneclaw.desktop.MainKt"
        jvmArgs("-Djna.library.path=$rustTarget")
    }
}

tasks.test {
    dependsOn(":bridge:hostLibrary")
    useJUnitPlatform()
    systemProperty("jna.library.path", rustTarget.path)
    systemProperty("java.awt.headless", "true")
}
