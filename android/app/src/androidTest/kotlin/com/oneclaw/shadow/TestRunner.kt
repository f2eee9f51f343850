package com.oneclaw.shadow

import android.app.Application
import android.content.Context
import androidx.test.core.app.ApplicationProvider
import androidx.test.runner.AndroidJUnitRunner

/** Runs the tests in an application whose parts each test makes for itself. */
class TestRunner : AndroidJUnitRunner() {
    override fun newApplication(loader: ClassLoader, name: String, context: Context): Application =
        super.newApplication(loader, TestApplication::class.java.name, context)
}

class TestApplication : OneClawApplication() {
    override lateinit var container: AppContainer

    companion object {
        val current: TestApplication get() = ApplicationProvider.getApplicationContext()
    }
}
