package com.oneclaw.chat.ui

import com.oneclaw.chat.AppUiState
import com.oneclaw.chat.SampleData
import com.oneclaw.chat.Samples
import com.oneclaw.chat.Transcript
import com.oneclaw.core.Message
import com.oneclaw.core.Session
import com.oneclaw.core.ToolStatus

/** The main screens with conversations in other scripts. */
object Tongues {
    private val data = SampleData

    private val chinese = listOf(
        data.user("m-1", "帮我安排一个京都的周末，我喜欢安静的地方。", 0),
        data.reply("m-2", "好的，我先看一下天气。", 1, thinking = "户外景点要看天气。"),
        data.call("m-3", "c-1", "http_request", """{"url":"https://weather.example.org/kyoto"}""", 2),
        data.result("m-4", "c-1", "http_request", "周六：晴，18 °C\n周日：多云，15 °C", ToolStatus.SUCCESS, 840, 3),
        data.reply(
            "m-5",
            """
            这是**两天**的安排。

            1. *周六*：清晨去伏见稻荷大社，中午逛锦市场
            2. *周日*：哲学之道，然后去南禅寺

            | 地点 | 开放时间 | 门票 |
            |---|---|---|
            | 伏见稻荷大社 | 全天 | 免费 |
            | 南禅寺 | 8:40 | ¥600 |

            > 十点以后电车很挤，请带 `现金`。
            """.trimIndent(),
            4,
            usage = data.usage,
        ),
        data.user("m-6", "你说的是这座神社吗？", 5, listOf(data.storedPicture("m-6"))),
        data.reply("m-7", "是的，这是从车站看到的伏见稻荷大社。", 6),
    )

    private val arabic = listOf(
        data.user("m-1", "خطّط لي عطلة نهاية أسبوع في كيوتو. أحب الأماكن الهادئة.", 0),
        data.reply("m-2", "بكل سرور. سأنظر أولًا في حالة الطقس.", 1, thinking = "الأماكن المفتوحة تتوقف على الطقس."),
        data.call("m-3", "c-1", "http_request", """{"url":"https://weather.example.org/kyoto"}""", 2),
        data.result("m-4", "c-1", "http_request", "Saturday: sunny, 18 °C", ToolStatus.SUCCESS, 840, 3),
        data.reply(
            "m-5",
            """
            هذه خطة **ليومين**.

            1. *السبت*: معبد Fushimi Inari عند الفجر، ثم سوق نيشيكي
            2. *الأحد*: طريق الفيلسوف، ثم معبد نانزن-جي

            | المكان | يفتح | الرسوم |
            |---|---|---|
            | Fushimi Inari | دائمًا | مجانًا |
            | نانزن-جي | 8:40 | ¥600 |

            ```kotlin
            val days = listOf("Saturday", "Sunday")
            ```

            > القطارات مزدحمة بعد العاشرة. أحضر معك `cash`.
            """.trimIndent(),
            4,
            usage = data.usage,
        ),
        data.user("m-6", "هل هذا هو المعبد الذي تقصده؟", 5, listOf(data.storedPicture("m-6"))),
        data.reply("m-7", "نعم، هذا Fushimi Inari كما يُرى من المحطة.", 6),
    )

    private val chineseSessions = listOf(
        data.session("s-1", "京都的周末", "九点之前，哲学之道很安静。", 0),
        data.session("s-2", "SQLite 预写日志", "检查点会把页面写回数据库。", 12),
        data.session("s-3", "给小雅的生日诗", "玫瑰是红的，引擎是铜的……", 95),
        data.session("s-4", "", null, 300),
        data.session("s-5", "面试准备：分布式系统", "先从一致性模型说起。", 1_500),
    )

    private val arabicSessions = listOf(
        data.session("s-1", "عطلة في كيوتو", "طريق الفيلسوف هادئ قبل التاسعة.", 0),
        data.session("s-2", "سجلّ SQLite", "نقطة التحقق تعيد الصفحات إلى مكانها.", 12),
        data.session("s-3", "קצת עברית", "שבוע טוב, נתראה בקרוב.", 95),
        data.session("s-4", "", null, 300),
        data.session("s-5", "English among others", "Left to right, as it is written.", 1_500),
    )

    fun inChinese(state: AppUiState) = state.speaking(chineseSessions, chinese)

    fun inArabic(state: AppUiState) = state.speaking(arabicSessions, arabic)

    private fun AppUiState.speaking(sessions: List<Session>, messages: List<Message>) = copy(
        sessions = this.sessions.copy(sessions = sessions),
        chats = chats.mapValues { (_, chat) -> chat.copy(session = sessions.first(), transcript = Transcript(messages)) },
    )

    init {
        check(Samples.chat.openId == chineseSessions.first().id) { "the samples have another name for the open conversation" }
    }
}
