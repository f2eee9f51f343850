// The three tasks that turn the Rust core into what Gradle knows: libraries for phones, a library for this machine, bindings.
plugins {
    `kotlin-dsl`
}
