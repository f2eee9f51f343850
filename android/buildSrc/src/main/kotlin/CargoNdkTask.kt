import org.gradle.api.file.DirectoryProperty
import org.gradle.api.provider.ListProperty
import org.gradle.api.provider.Property
import org.gradle.api.tasks.Input
import org.gradle.api.tasks.Internal
import org.gradle.api.tasks.OutputDirectory
import org.gradle.api.tasks.TaskAction

/**
 * Builds the core for phones, one library per ABI, in the folders that an APK has them in. Android's plugin strips them.
 *
 * Pages of 16 KB are what NDK 28 does by itself; `.cargo/config.toml` asks for them whichever NDK is used.
 */
abstract class CargoNdkTask : CargoTask() {
    @get:Input
    abstract val abis: ListProperty<String>

    /** The oldest Android that the library has to run on. */
    @get:Input
    abstract val minSdk: Property<Int>

    /** Cargo's `dev` or `release`. */
    @get:Input
    abstract val profile: Property<String>

    @get:Input
    abstract val ndkVersion: Property<String>

    @get:Internal
    abstract val ndk: DirectoryProperty

    @get:OutputDirectory
    abstract val libraries: DirectoryProperty

    @TaskAction
    fun build() {
        val out = libraries.get().asFile
        out.deleteRecursively()
        val targets = abis.get().flatMap { listOf("--target", it) }
        val ndkOptions = targets + listOf("--platform", "${minSdk.get()}", "--output-dir", out.path)
        val build = listOf("build", "--locked", "--package", "oneclaw-ffi", "--profile", profile.get())
        cargo(listOf("ndk") + ndkOptions + build, mapOf("ANDROID_NDK_HOME" to ndk.get().asFile.path))
    }
}
