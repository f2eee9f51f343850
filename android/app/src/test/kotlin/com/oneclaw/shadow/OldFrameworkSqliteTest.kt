package com.oneclaw.shadow

import org.robolectric.annotation.Config

/** The same with the oldest Android that the app runs on. In a process of its own: the core's library is loaded only once. */
@Config(sdk = [26])
class OldFrameworkSqliteTest : FrameworkSqliteTest()
