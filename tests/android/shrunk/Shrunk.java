import com.oneclaw.bridge.KeyStore;
import com.oneclaw.bridge.RustChatRepository;
import com.oneclaw.core.ChatEvent;
import com.oneclaw.core.OpenConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.flow.FlowKt;

/**
 * Shrunk by R8 together with the bridge, and run on the JVM: opens the core, which asks for a key, and has a message answered by the
 * demo service. So calls, structures and callbacks go both ways; if a rule is missing, JNA finds a class, a field or a
 * method no more. Knows only what the app itself uses, and so keeps nothing alive that the app would lose.
 */
public class Shrunk {
    private static final class Keys implements KeyStore {
        private int asked;

        @Override
        public synchronized String key(String providerId) {
            asked++;
            return null;
        }

        @Override
        public void setKey(String providerId, String key) {}

        @Override
        public void removeKey(String providerId) {}
    }

    private interface Suspending {
        Object call(Continuation<Object> continuation);
    }

    @SuppressWarnings("unchecked")
    private static <T> T await(Suspending call) throws InterruptedException {
        return (T) BuildersKt.runBlocking(
            EmptyCoroutineContext.INSTANCE, (scope, continuation) -> call.call((Continuation<Object>) continuation));
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory(Path.of(arguments[0]), "core");
        OpenConfig config = new OpenConfig(folder.resolve("oneclaw.db").toString(), folder.resolve("files").toString(), true);
        Keys keys = new Keys();
        RustChatRepository core =
            await(continuation -> RustChatRepository.Companion.open(config, keys, List.of(), (Continuation) continuation));
        com.oneclaw.core.Session session = await(continuation -> core.createSession(null, null, (Continuation) continuation));
        List<ChatEvent> events = await(continuation ->
            FlowKt.toList(core.send(session.getId(), "Remember: the port = 8080.", List.of()), new ArrayList<>(), (Continuation) continuation));
        StringBuilder text = new StringBuilder();
        for (ChatEvent event : events) {
            if (event instanceof ChatEvent.StreamingText) text.append(((ChatEvent.StreamingText) event).getText());
        }
        if (!text.toString().contains("Noted: the port = 8080.")) throw new AssertionError(text + " " + events);
        if (keys.asked == 0) throw new AssertionError("the core asked for no key");
        core.close();
        // Threads of the core may still be attached.
        System.exit(0);
    }
}
