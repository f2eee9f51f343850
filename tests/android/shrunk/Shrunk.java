import com.oneclaw.core.Oneclaw_ffiKt;
import com.oneclaw.core.RustThreadsKt;

/**
 * Calls the core through bindings that R8 has shrunk. Starting compares all checksums and hands over the tables of callbacks;
 * the two calls go through JNA's structures. If a rule is missing, JNA finds a class, a field or a method no more.
 */
public class Shrunk {
    public static void main(String[] arguments) {
        RustThreadsKt.startRust();
        String cut = Oneclaw_ffiKt.truncateHead("x".repeat(20), 5);
        if (!cut.contains("showing first 5 of 20 characters")) {
            throw new AssertionError(cut);
        }
        if (Oneclaw_ffiKt.estimateText("twelve words", "gpt-4o").getExpected() <= 0) {
            throw new AssertionError("no estimate");
        }
        // Threads of the core may still be attached.
        System.exit(0);
    }
}
