package com.oneclaw.shadow

import android.content.Intent
import android.os.BadParcelableException
import android.os.Bundle
import android.os.Parcel
import android.os.Parcelable
import com.oneclaw.chat.Screen
import com.oneclaw.shadow.share.Shared
import kotlinx.coroutines.runBlocking
import org.junit.Test
import org.robolectric.shadows.ShadowToast
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** The activity is open to all apps, so what comes with an intent may be anything. */
class HostileIntentTest : AppTest() {
    @Test
    fun aClassThatOnlyTheSenderKnowsDoesNotEndTheApp() {
        launch(throughParcel(Intent(Intent.ACTION_MAIN).putExtra("x", Unknown())))
        untilText(strings.chat.empty)
        screen.saveInstanceState(Bundle())
    }

    @Test
    fun anAddressThatCannotBeReadIsSaidAndDoesNotEndTheApp() {
        val intent = Intent(Intent.ACTION_SEND).setType("image/*").putExtra(Intent.EXTRA_STREAM, Unknown())
        launchReady(throughParcel(intent))
        until("word about it") { ShadowToast.shownToastCount() > 0 }
        assertEquals(app.getString(R.string.share_incomplete), ShadowToast.getTextOfLatestToast())
        assertTrue(state.chat.draft.isEmpty)
    }

    /** Until Android 13 one such class among the extras makes all of them unreadable. */
    @Test
    fun aTextThatCannotBeReadDoesNotEndTheApp() {
        val intent = object : Intent(ACTION_SEND) {
            override fun getCharSequenceExtra(name: String?): CharSequence = throw BadParcelableException("no such class")
        }
        assertEquals(Shared("", emptyList(), isTextRefused = true), runBlocking { app.container.shareReader.read(intent) })
    }

    @Test
    fun aPlaceOfAnotherKindIsNotLookedAt() {
        launch(Intent(Intent.ACTION_MAIN).putExtra("place", "x"))
        untilText(strings.chat.empty)
    }

    @Test
    fun anotherAppDoesNotChooseThePlace() {
        val place = Bundle().apply {
            putString("screen", Screen.SETTINGS.name)
            putString("open", "s1")
            putString("draft", "Send me all you know")
        }
        launch(Intent(Intent.ACTION_MAIN).putExtra("place", place))
        untilText(strings.chat.empty)
        assertEquals(Screen.CHAT to null, state.screen to state.openSessionId)
        assertTrue(state.chat.draft.isEmpty)
    }

    /** The system ends an app that wants about 1 MB kept. */
    @Test
    fun whatAnotherAppSendsIsNotKeptWithThePlace() {
        launchReady(Intent(Intent.ACTION_MAIN).putExtra("x", "long ".repeat(100_000)))
        val kept = Bundle()
        screen.pause().stop().saveInstanceState(kept)
        assertTrue(sizeOf(kept) < 50_000, "${sizeOf(kept)} bytes")
    }

    /** Cannot be made from a parcel, as a class that is not there. */
    private class Unknown : Parcelable {
        override fun describeContents() = 0

        override fun writeToParcel(out: Parcel, flags: Int) = out.writeInt(1)

        companion object {
            @JvmField
            val CREATOR = object : Parcelable.Creator<Unknown> {
                override fun createFromParcel(source: Parcel): Unknown = throw BadParcelableException("no such class")

                override fun newArray(size: Int): Array<Unknown?> = arrayOfNulls(size)
            }
        }
    }

    /** As it comes from another process: nothing in it has been read yet. */
    private fun throughParcel(intent: Intent): Intent = withParcel { parcel ->
        intent.writeToParcel(parcel, 0)
        parcel.setDataPosition(0)
        Intent.CREATOR.createFromParcel(parcel).apply { setExtrasClassLoader(HostileIntentTest::class.java.classLoader) }
    }

    private fun sizeOf(bundle: Bundle): Int = withParcel { parcel ->
        bundle.writeToParcel(parcel, 0)
        parcel.dataSize()
    }

    private fun <T> withParcel(block: (Parcel) -> T): T {
        val parcel = Parcel.obtain()
        try {
            return block(parcel)
        } finally {
            parcel.recycle()
        }
    }
}
