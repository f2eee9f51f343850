import com.android.build.api.dsl.ManagedVirtualDevice.PageAlignment

plugins {
    alias(libs.plugins.android.application)
    alias(libs.plugins.kotlin.compose)
    alias(libs.plugins.ksp)
}

val phoneAbis = listOf("arm64-v8a", "armeabi-v7a", "x86_64")
val keystore = providers.gradleProperty("oneclawKeystore")

// For a bundle: its resources cannot be shrunk while there are APKs per ABI.
val hasSplits = !providers.gradleProperty("noSplits").isPresent

android {
    namespace = "com.oneclaw.shadow"
    // Compose 1.12 cannot be compiled against less.
    compileSdk = 37
    ndkVersion = "28.2.13676358"

    defaultConfig {
        // The name of the original app: an update of it finds its data. It has to be signed with the same key.
        applicationId = "com.oneclaw.shadow"
        minSdk = 26
        targetSdk = 36
        versionCode = 1000
        versionName = "0.1.0"
        testInstrumentationRunner = "com.oneclaw.shadow.TestRunner"
        // JNA has libraries for more ABIs than the core. Where there are splits, they choose; both together are refused.
        if (!hasSplits) ndk.abiFilters += phoneAbis
    }

    signingConfigs {
        if (keystore.isPresent) {
            create("release") {
                storeFile = file(keystore.get())
                storePassword = providers.gradleProperty("oneclawKeystorePassword").get()
                keyAlias = providers.gradleProperty("oneclawKeyAlias").get()
                keyPassword = providers.gradleProperty("oneclawKeyPassword").get()
            }
        }
    }

    buildTypes {
        debug {
            // Beside the real app and its conversations, not in their place.
            applicationIdSuffix = ".debug"
        }
        release {
            isMinifyEnabled = true
            isShrinkResources = true
            proguardFiles(getDefaultProguardFile("proguard-android-optimize.txt"), "proguard-rules.pro")
            signingConfig = signingConfigs.findByName("release")
        }
    }

    // One APK per ABI. A bundle has them all, and the store divides it: `bundleRelease -PnoSplits`.
    splits.abi {
        isEnable = hasSplits
        reset()
        include(*phoneAbis.toTypedArray())
    }

    buildFeatures.compose = true
    androidResources.localeFilters += listOf("en", "zh")

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_17
        targetCompatibility = JavaVersion.VERSION_17
    }

    sourceSets {
        named("androidTest") {
            // The original app's file as SQL, and its tables as Room knows them: those that the host's tests use.
            assets.directories.add("../../tests/fixtures/store")
            kotlin.directories.add("../../tests/room/src/tables/kotlin")
        }
    }

    testOptions {
        animationsDisabled = true
        unitTests {
            isIncludeAndroidResources = true
            all { test ->
                test.dependsOn(":bridge:hostLibrary")
                // Each API level of Robolectric is a class loader, and the core's library can be in one of a process only.
                test.setForkEvery(1)
                test.systemProperty("jna.library.path", cargoTarget(rootDir.parentFile).resolve("debug").path)
            }
        }
        managedDevices.localDevices.create("oldest") {
            device = "Pixel 2"
            apiLevel = 27
            systemImageSource = "aosp"
            require64Bit = true
        }
        managedDevices.localDevices.create("newest") {
            device = "Pixel 6"
            apiLevel = 36
            systemImageSource = "google_apis"
            pageAlignment = PageAlignment.FORCE_16KB_PAGES
        }
    }

    lint {
        checkDependencies = true
        // Versions are raised on purpose, not whenever there are newer ones.
        disable += setOf("AndroidGradlePluginVersion", "GradleDependency", "NewerVersionAvailable", "OldTargetApi")
    }
}

ksp {
    arg("room.schemaLocation", layout.buildDirectory.dir("schemas").get().asFile.path)
}

androidComponents {
    onVariants { variant ->
        val name = variant.name.replaceFirstChar(Char::uppercase)
        val libraries = tasks.register<CargoNdkTask>("cargoNdk$name") {
            abis = phoneAbis
            minSdk = variant.minSdk.apiLevel
            profile = if (variant.buildType == "release") "release" else "dev"
            ndkVersion = android.ndkVersion
            ndk = sdkComponents.ndkDirectory
        }
        variant.sources.jniLibs?.addGeneratedSourceDirectory(libraries, CargoNdkTask::libraries)
    }
}

dependencies {
    implementation(project(":chat"))
    implementation(variantOf(libs.jna) { artifactType("aar") })
    implementation(libs.activity.compose)
    implementation(libs.coroutines.android)
    implementation(libs.lifecycle.runtime.compose)
    implementation(libs.lifecycle.viewmodel)
    implementation(libs.lifecycle.viewmodel.savedstate)

    testImplementation(testFixtures(project(":bridge")))
    testImplementation(libs.androidx.test.core)
    testImplementation(libs.androidx.test.junit)
    testImplementation(libs.compose.ui.test.junit4)
    testImplementation(libs.coroutines.test)
    testImplementation(libs.espresso.core)
    testImplementation(libs.junit4)
    testImplementation(libs.kotlin.test.junit)
    testImplementation(libs.robolectric)
    // The tests run on this machine, so with JNA for this machine.
    testImplementation(libs.jna)

    androidTestImplementation(platform(libs.compose.bom))
    androidTestImplementation(libs.androidx.test.core)
    androidTestImplementation(libs.androidx.test.junit)
    androidTestImplementation(libs.androidx.test.runner)
    androidTestImplementation(libs.compose.ui.test.junit4)
    // Compose's tests ask for an older one, which fails on new devices.
    androidTestImplementation(libs.espresso.core)
    androidTestImplementation(libs.kotlin.test.junit)
    androidTestImplementation(libs.room.runtime)
    kspAndroidTest(libs.room.compiler)
}
