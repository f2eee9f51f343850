import org.gradle.api.file.DirectoryProperty
import org.gradle.api.file.RegularFileProperty
import org.gradle.api.tasks.InputFile
import org.gradle.api.tasks.OutputDirectory
import org.gradle.api.tasks.OutputFile
import org.gradle.api.tasks.PathSensitive
import org.gradle.api.tasks.PathSensitivity
import org.gradle.api.tasks.TaskAction

/** Builds the core for this machine, with debug information: the bindings are read from it, and tests run it. */
abstract class HostLibraryTask : CargoTask() {
    @get:OutputFile
    abstract val library: RegularFileProperty

    init {
        val target = cargoTarget(workspace.get().asFile)
        library.set(target.resolve("debug/${System.mapLibraryName("oneclaw_ffi")}"))
    }

    /** With the command line, as tests compare the two. */
    @TaskAction
    fun build() = cargo(listOf("build", "--locked", "--package", "oneclaw-ffi", "--package", "oneclaw-cli"))
}

/** Writes the Kotlin bindings of [library]. */
abstract class BindingsTask : CargoTask() {
    @get:InputFile
    @get:PathSensitive(PathSensitivity.NONE)
    abstract val library: RegularFileProperty

    @get:InputFile
    @get:PathSensitive(PathSensitivity.NONE)
    abstract val config: RegularFileProperty

    @get:OutputDirectory
    abstract val bindings: DirectoryProperty

    init {
        config.convention(workspace.file("uniffi.toml"))
    }

    @TaskAction
    fun generate() {
        val out = bindings.get().asFile
        out.deleteRecursively()
        val generator = listOf("run", "--quiet", "--locked", "--package", "uniffi-bindgen", "--")
        val options = listOf("--language", "kotlin", "--no-format", "--config", config.get().asFile.path, "--out-dir", out.path)
        cargo(generator + "generate" + options + library.get().asFile.path)
    }
}
