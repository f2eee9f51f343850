// The screens with Compose for Android. The same sources with Compose for the desktop are in :desktop, with their tests; see
// docs/adr/0012.
plugins {
    alias(libs.plugins.android.library)
    alias(libs.plugins.kotlin.compose)
}

android {
    namespace = "com.oneclaw.chat"
    compileSdk = 37
    defaultConfig.minSdk = 26
    buildFeatures.compose = true
    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_17
        targetCompatibility = JavaVersion.VERSION_17
    }
}

androidComponents {
    beforeVariants { variant ->
        // They need Compose's tests for the desktop.
        variant.hostTests.values.forEach { it.enable = false }
    }
}

dependencies {
    api(project(":bridge"))
    api(platform(libs.compose.bom))
    api(libs.compose.foundation)
    api(libs.compose.material3)
    implementation(libs.compose.icons)
    implementation(libs.compose.ui.tooling.preview)
    implementation(libs.lifecycle.runtime.compose)
    debugImplementation(libs.compose.ui.tooling)
}
