//! Reads the unstripped library and writes the Kotlin bindings of it, as `uniffi.toml` says.

fn main() {
    uniffi::uniffi_bindgen_main();
}
