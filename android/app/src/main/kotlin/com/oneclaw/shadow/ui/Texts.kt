package com.oneclaw.shadow.ui

import android.content.Context
import com.oneclaw.chat.Strings
import com.oneclaw.shadow.R
import java.util.Locale

/**
 * The texts of the screens. Android's resources say in which language, so that their own texts and these never differ, and
 * where keys are kept; all others are the chat's own.
 */
internal fun Context.screenTexts(): Strings {
    val strings = Strings.of(Locale.forLanguageTag(getString(R.string.language)))
    return strings.copy(settings = strings.settings.copy(key = getString(R.string.key_label)))
}
