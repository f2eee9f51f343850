import org.gradle.api.DefaultTask
import org.gradle.api.file.ConfigurableFileCollection
import org.gradle.api.file.DirectoryProperty
import org.gradle.api.tasks.InputFiles
import org.gradle.api.tasks.Internal
import org.gradle.api.tasks.PathSensitive
import org.gradle.api.tasks.PathSensitivity
import org.gradle.process.ExecOperations
import java.io.File
import javax.inject.Inject

private val INPUTS = listOf("Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo/config.toml", "rust-core")

/**
 * Something that cargo does in the workspace above this build. Gradle runs it when a source of the core has changed; cargo
 * itself then knows what to compile.
 */
abstract class CargoTask : DefaultTask() {
    @get:Internal
    abstract val workspace: DirectoryProperty

    @get:InputFiles
    @get:PathSensitive(PathSensitivity.RELATIVE)
    abstract val sources: ConfigurableFileCollection

    @get:Inject
    protected abstract val processes: ExecOperations

    init {
        group = "rust"
        workspace.fileValue(project.rootDir.parentFile)
        sources.from(INPUTS.map { workspace.file(it) })
    }

    protected fun cargo(arguments: List<String>, environment: Map<String, String> = emptyMap()) {
        processes.exec {
            workingDir(workspace.get().asFile)
            commandLine(listOf("cargo") + arguments)
            environment(environment)
        }
    }
}

/** Where cargo puts what it builds. */
fun cargoTarget(workspace: File): File = workspace.resolve(System.getenv("CARGO_TARGET_DIR") ?: "target")
