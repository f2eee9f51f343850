// What a Gradle script has round it and the jars of Gradle's API have not: the part of Gradle's Kotlin DSL, and of the plugins'
// accessors, that this project uses. Only types: nothing of it is ever run.
@file:Suppress("unused", "UNUSED_PARAMETER", "EXTENSION_SHADOWED_BY_MEMBER")

import org.gradle.api.Action
import org.gradle.api.Project
import org.gradle.api.Task
import org.gradle.api.artifacts.Dependency
import org.gradle.api.artifacts.dsl.DependencyHandler
import org.gradle.api.file.Directory
import org.gradle.api.file.FileSystemLocation
import org.gradle.api.file.FileSystemLocationProperty
import org.gradle.api.file.ProjectLayout
import org.gradle.api.provider.ListProperty
import org.gradle.api.provider.Property
import org.gradle.api.provider.Provider
import org.gradle.api.tasks.TaskContainer
import org.gradle.api.tasks.TaskProvider
import org.gradle.plugin.use.PluginDependenciesSpec
import org.gradle.plugin.use.PluginDependencySpec
import java.io.File

private fun <T> nothing(): T = error("only types")

fun Project.plugins(block: PluginDependenciesSpec.() -> Unit): Unit = nothing()

fun Project.dependencies(block: DependencyHandler.() -> Unit): Unit = nothing()

infix fun PluginDependencySpec.apply(isApplied: Boolean): PluginDependencySpec = nothing()

fun DependencyHandler.api(what: Any): Dependency? = nothing()

fun DependencyHandler.implementation(what: Any): Dependency? = nothing()

fun DependencyHandler.debugImplementation(what: Any): Dependency? = nothing()

fun DependencyHandler.testImplementation(what: Any): Dependency? = nothing()

fun DependencyHandler.androidTestImplementation(what: Any): Dependency? = nothing()

fun DependencyHandler.kspAndroidTest(what: Any): Dependency? = nothing()

fun DependencyHandler.project(path: String): Dependency = nothing()

inline fun <reified T : Task> TaskContainer.register(name: String, action: Action<T>): TaskProvider<T> =
    register(name, T::class.java, action)

inline fun <reified T : Task> TaskContainer.register(name: String): TaskProvider<T> = register(name, T::class.java)

/** Of the KSP plugin. */
interface KspExtension {
    fun arg(name: String, value: String)
}

fun Project.ksp(block: KspExtension.() -> Unit): Unit = nothing()

// For `name = value`, where the name is a property of Gradle's kind.

fun <T : Any> Property<T>.assign(value: T?): Unit = nothing()

fun <T : Any> Property<T>.assign(value: Provider<out T>): Unit = nothing()

fun <T : Any> ListProperty<T>.assign(value: Iterable<T>): Unit = nothing()

fun <T : FileSystemLocation> FileSystemLocationProperty<T>.assign(value: File?): Unit = nothing()

fun <T : FileSystemLocation> FileSystemLocationProperty<T>.assign(value: Provider<out T>): Unit = nothing()

/** Of Gradle 8.13; the newest API to be had is older. */
val ProjectLayout.settingsDirectory: Directory get() = nothing()
