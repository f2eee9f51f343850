package com.oneclaw.shadow

import android.app.Application
import android.content.Context

/** The process. Nothing is opened until an activity asks for it: the system also starts the process for other reasons. */
open class OneClawApplication : Application() {
    open val container: AppContainer by lazy { AppContainer(this) }
}

/** The parts of the app, from wherever Android made an object by itself. */
internal val Context.container: AppContainer
    get() = (applicationContext as OneClawApplication).container
