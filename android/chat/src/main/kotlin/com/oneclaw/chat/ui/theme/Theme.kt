package com.oneclaw.chat.ui.theme

import androidx.compose.foundation.isSystemInDarkTheme
import androidx.compose.foundation.shape.RoundedCornerShape
import androidx.compose.material3.ColorScheme
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Shapes
import androidx.compose.runtime.Composable
import androidx.compose.ui.text.TextStyle
import androidx.compose.ui.text.font.FontFamily
import androidx.compose.ui.unit.dp
import com.oneclaw.chat.Theme

private val shapes = Shapes(
    extraSmall = RoundedCornerShape(6.dp),
    small = RoundedCornerShape(10.dp),
    medium = RoundedCornerShape(14.dp),
    large = RoundedCornerShape(20.dp),
    extraLarge = RoundedCornerShape(28.dp),
)

/**
 * Colours and shapes of the app.
 *
 * @param colors the colours of the platform, asked with whether it is dark; by default the app's own
 */
@Composable
fun OneClawTheme(
    theme: Theme = Theme.SYSTEM,
    colors: @Composable (isDark: Boolean) -> ColorScheme = { if (it) DarkColors else LightColors },
    content: @Composable () -> Unit,
) {
    val isDark = when (theme) {
        Theme.SYSTEM -> isSystemInDarkTheme()
        Theme.LIGHT -> false
        Theme.DARK -> true
    }
    MaterialTheme(colorScheme = colors(isDark), shapes = shapes, content = content)
}

/** For code and what machines wrote. */
val codeStyle: TextStyle
    @Composable get() = MaterialTheme.typography.bodySmall.copy(fontFamily = FontFamily.Monospace)
