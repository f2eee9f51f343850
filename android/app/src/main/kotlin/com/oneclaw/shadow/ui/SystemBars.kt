package com.oneclaw.shadow.ui

import android.graphics.Color
import androidx.activity.ComponentActivity
import androidx.activity.SystemBarStyle
import androidx.activity.compose.LocalActivity
import androidx.activity.enableEdgeToEdge
import androidx.compose.foundation.isSystemInDarkTheme
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import com.oneclaw.chat.Theme

/** The icons of the system's bars, dark on light or light on dark as [theme] says: the bars lie over the screens. */
@Composable
internal fun SystemBars(theme: Theme) {
    val activity = LocalActivity.current as? ComponentActivity ?: return
    val isDark = theme == Theme.DARK || (theme == Theme.SYSTEM && isSystemInDarkTheme())
    LaunchedEffect(activity, isDark) {
        val style = SystemBarStyle.auto(Color.TRANSPARENT, Color.TRANSPARENT) { isDark }
        activity.enableEdgeToEdge(style, style)
    }
}
