"""Texts that no package has: what tools print, tables, identifiers, chats, drawings, and noise. Made by chance, the same each time."""
import base64
import difflib
import json
import random
import shutil
import sqlite3
import string
import subprocess
import uuid

chance = random.Random(17)
pick = chance.choice
number = chance.randint


def times(count, make):
    return "\n".join(make() for _ in range(count)) + "\n"


def word(least=3, most=10):
    return "".join(pick(pick(["aeiou", "bcdfghklmnprstvw"])) for _ in range(number(least, most)))


HOSTS = "api web db01 cache-2 worker-7f9c gateway auth billing search-eu-west-1 node17 ingress mail".split()
LEVELS = ["INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"]
NAMES = """Anna Miller|John Smith|Jürgen Groß|Zoë Okafor|Li Wei|Fatima Al-Sayed|José García|Łukasz Nowak|Aoife Ní Bhriain|Nguyễn Văn An|
    Siobhán O'Neill|Søren Kjær|Chidi Eze|Priya Raman|Mehmet Yılmaz|Olga Ivanova|Björk Jónsdóttir|Ana Luísa Sá|Max Meier|Emma Brown"""
NAMES = [name.strip() for name in NAMES.split("|")]
NOUNS = """order invoice user session token account report project branch window address product customer payment request response message
    file folder table column index buffer cache socket thread worker process signal filter record region device sensor engine""".split()
VERBS = "created updated deleted failed started stopped retried skipped loaded saved opened closed parsed sent received accepted".split()


def sentence(sentences):
    return pick(sentences).strip()[: number(40, 300)]


def moment():
    return f"2{number(0, 1)}{number(10, 29)}-{number(1, 12):02}-{number(1, 28):02}"


def clock():
    return f"{number(0, 23):02}:{number(0, 59):02}:{number(0, 59):02}"


def address():
    return ".".join(str(number(1, 254)) for _ in range(4))


def path(depth=4):
    return "/" + "/".join(pick(NOUNS + ["src", "lib", "var", "usr", "home", "tmp", "data", "app", "bin", word()]) for _ in range(number(2, depth)))


def identifier():
    words = [pick(NOUNS + VERBS + [word()]) for _ in range(number(1, 4))]
    return pick([
        "_".join(words),
        words[0] + "".join(each.title() for each in words[1:]),
        "".join(each.title() for each in words),
        "_".join(words).upper(),
        "-".join(words),
    ])  # fmt: skip


def digits(count):
    return "".join(pick(string.digits) for _ in range(count))


def hexadecimal(count, upper=False):
    text = "".join(pick("0123456789abcdef") for _ in range(count))
    return text.upper() if upper else text


def scalar():
    return pick([
        lambda: number(0, 100_000),
        lambda: round(chance.uniform(-1000, 1000), number(1, 6)),
        lambda: pick(NOUNS),
        lambda: pick(NAMES),
        lambda: f"{moment()}T{clock()}Z",
        lambda: pick([True, False, None]),
        lambda: str(uuid.UUID(int=chance.getrandbits(128))),
        lambda: f"https://{word()}.example.com{path()}?id={number(1, 9999)}",
        lambda: f"{word()}@{word()}.org",
        lambda: " ".join(pick(NOUNS + VERBS) for _ in range(number(2, 8))),
    ])()  # fmt: skip


def record(depth=2):
    made = {}
    for _ in range(number(3, 8)):
        key = pick(NOUNS) + pick(["", "_id", "Id", "Name", "_at", "Count", "s"])
        if depth and number(0, 4) == 0:
            made[key] = pick([lambda: record(depth - 1), lambda: [scalar() for _ in range(number(1, 5))], lambda: [record(depth - 1)]])()
        else:
            made[key] = scalar()
    return made


def logs():
    message = lambda: " ".join(pick(NOUNS + VERBS + ["the", "for", "with", "after", "in", f"{number(1, 9000)}ms", f"id={number(1, 10**6)}", f"0x{hexadecimal(8)}"]) for _ in range(number(4, 12)))
    level = lambda: pick(LEVELS)
    return {
        "log_application": times(700, lambda: f"{moment()} {clock()},{number(0, 999):03} {level():5} [{pick(HOSTS)}-{number(1, 16)}] com.example.{pick(NOUNS)}.{pick(NOUNS).title()}Service - {message()}"),
        "log_system": times(700, lambda: f"{pick(['Jan', 'Mar', 'Nov'])} {number(1, 28):2} {clock()} {pick(HOSTS)} {pick(['sshd', 'systemd', 'kernel', 'cron', 'dhclient'])}[{number(100, 99999)}]: {message()}"),
        "log_kernel": times(500, lambda: f"[{number(0, 99999):5}.{digits(6)}] {pick(['usb', 'eth0', 'nvme0n1', 'ACPI', 'EXT4-fs (sda1)', 'audit', 'pci 0000:00:1f.2'])}: {message()}"),
        "log_web": times(500, lambda: f'{address()} - - [{number(1, 28):02}/Nov/2026:{clock()} +0000] "{pick(["GET", "POST", "PUT"])} {path()}?{pick(NOUNS)}={number(1, 999)} HTTP/1.1" {pick([200, 200, 304, 404, 500])} {number(100, 99999)} "https://{word()}.com/" "Mozilla/5.0 (X11; Linux x86_64; rv:{number(60, 130)}.0) Gecko/20100101 Firefox/{number(60, 130)}.0"'),
        "log_json": times(400, lambda: json.dumps({"ts": f"{moment()}T{clock()}.{digits(3)}Z", "level": level().lower(), "msg": message(), "trace_id": hexadecimal(32), **record(0)})),
        "log_key_value": times(500, lambda: f'time="{moment()}T{clock()}Z" level={level().lower()} msg="{message()}" {pick(NOUNS)}={number(1, 9999)} pod={pick(HOSTS)}-{hexadecimal(9)}-{word(5, 5)} namespace={pick(NOUNS)}'),
        "log_cluster": times(500, lambda: f"{pick('IWE')}{number(1, 12):02}{number(1, 28):02} {clock()}.{digits(6)} {number(1, 9)} {pick(NOUNS)}_{pick(NOUNS)}.go:{number(10, 2000)}] \"{message().capitalize()}\" {pick(NOUNS)}=\"{pick(HOSTS)}/{word()}-{hexadecimal(10)}-{word(5, 5)}\" err=\"{message()}\""),
    }  # fmt: skip


def traces():
    python = lambda: "Traceback (most recent call last):\n" + "".join(f'  File "{path()}/{pick(NOUNS)}.py", line {number(1, 900)}, in {identifier()}\n    {pick(NOUNS)} = self.{identifier()}({pick(NOUNS)}, {pick(NOUNS)}={number(1, 9)})\n' for _ in range(number(2, 7))) + f"{pick(['ValueError', 'KeyError', 'TypeError', 'RuntimeError'])}: {pick(NOUNS)} {pick(VERBS)} '{word()}'\n"
    java = lambda: f"Exception in thread \"{word()}-{number(1, 20)}\" java.lang.{pick(['IllegalStateException', 'NullPointerException', 'RuntimeException'])}: {pick(NOUNS)} {pick(VERBS)}\n" + "".join(f"\tat org.{word()}.{pick(NOUNS)}.{pick(NOUNS).title()}{pick(NOUNS).title()}.{pick(VERBS)}{pick(NOUNS).title()}({pick(NOUNS).title()}{pick(NOUNS).title()}.java:{number(10, 999)})\n" for _ in range(number(4, 14))) + f"Caused by: java.io.IOException: {pick(NOUNS)} closed\n\t... {number(3, 40)} more\n"
    script = lambda: f"TypeError: Cannot read properties of undefined (reading '{pick(NOUNS)}')\n" + "".join(f"    at {pick(NOUNS)}.{identifier()} ({path()}/node_modules/{word()}/dist/{pick(NOUNS)}.js:{number(1, 900)}:{number(1, 80)})\n" for _ in range(number(3, 8)))
    rust = lambda: f"thread '{pick(['main', 'tokio-runtime-worker'])}' panicked at src/{pick(NOUNS)}.rs:{number(1, 900)}:{number(1, 80)}:\ncalled `Result::unwrap()` on an `Err` value: {pick(NOUNS).title()}Error {{ {pick(NOUNS)}: {number(1, 99)} }}\nstack backtrace:\n" + "".join(f"  {at:2}: {word()}::{pick(NOUNS)}::{pick(VERBS)}::h{hexadecimal(16)}\n             at {path()}/{pick(NOUNS)}.rs:{number(1, 900)}:{number(1, 60)}\n" for at in range(number(3, 9)))
    go = lambda: f"panic: runtime error: index out of range [{number(1, 99)}] with length {number(1, 9)}\n\ngoroutine {number(1, 99)} [running]:\n" + "".join(f"main.{identifier()}(0xc{hexadecimal(9)}, 0x{number(1, 99):x})\n\t{path()}/{pick(NOUNS)}.go:{number(1, 900)} +0x{hexadecimal(3)}\n" for _ in range(number(2, 6)))
    gcc = lambda: f"src/{pick(NOUNS)}.c:{(line := number(1, 900))}:{number(1, 70)}: {pick(['error', 'warning'])}: {pick(['implicit declaration of function', 'unused variable', 'incompatible types when assigning to'])} ‘{identifier()}’ [-W{pick(NOUNS)}-{pick(NOUNS)}]\n{line:5} |     {pick(NOUNS)}->{pick(NOUNS)} = {identifier()}({pick(NOUNS)});\n      |     {'^' + '~' * number(3, 14)}\n"
    rustc = lambda: f"error[E0{digits(3)}]: mismatched types\n  --> src/{pick(NOUNS)}/{pick(NOUNS)}.rs:{(line := number(1, 900))}:{number(1, 70)}\n   |\n{line:3} |     let {pick(NOUNS)}: {pick(['u32', 'String', '&str'])} = {identifier()}(&{pick(NOUNS)});\n   |         {' ' * number(1, 9)}{'^' * number(3, 14)} expected `{pick(['u32', 'usize'])}`, found `{pick(NOUNS).title()}`\n   |\n   = note: expected struct `{pick(NOUNS).title()}<{word()}>`\n\n"
    tsc = lambda: f"src/{pick(NOUNS)}/{pick(NOUNS)}.ts({number(1, 400)},{number(1, 80)}): error TS{number(1000, 9999)}: Property '{identifier()}' does not exist on type '{pick(NOUNS).title()}Props'.\n"
    test = lambda: f"tests/test_{pick(NOUNS)}.py::test_{pick(NOUNS)}_{pick(VERBS)}{pick(['', '[' + word() + '-' + str(number(1, 9)) + ']'])} {pick(['PASSED', 'PASSED', 'FAILED', 'SKIPPED'])}{' ' * number(5, 30)}[{number(1, 100):3}%]\n"
    failure = lambda: f"{'_' * 20} test_{pick(NOUNS)}_{pick(VERBS)} {'_' * 20}\n\n    def test_{pick(NOUNS)}_{pick(VERBS)}():\n>       assert {identifier()}({number(1, 9)}) == {number(1, 99)}\nE       assert {number(1, 99)} == {number(1, 99)}\nE        +  where {number(1, 99)} = {identifier()}({number(1, 9)})\n\ntests/test_{pick(NOUNS)}.py:{number(1, 300)}: AssertionError\n"
    cargo = lambda: f"test {pick(NOUNS)}::tests::{pick(NOUNS)}_{pick(VERBS)}_{pick(NOUNS)} ... {pick(['ok', 'ok', 'FAILED', 'ignored'])}\n   Compiling {word()}-{word()} v{number(0, 4)}.{number(0, 30)}.{number(0, 9)} ({path()})\n"
    group = lambda count, *makes: "".join(pick(makes)() for _ in range(count))
    return {
        "traces": group(150, python, java, script, rust, go),
        "compilers": group(250, gcc, rustc, tsc),
        "tests": "============================= test session starts ==============================\n" + group(300, test, test, test, failure, cargo),
    }  # fmt: skip


def tables():
    cells = lambda: [pick(NOUNS), str(number(1, 9999)), f"{chance.uniform(0, 100):.2f}", moment(), pick(NAMES), pick(["yes", "no", "-"])]
    short = lambda: [pick([str(number(0, 99)), pick("xyABC-"), f"{chance.uniform(0, 9):.1f}", pick(["ok", "no", "n/a", ""])]) for _ in range(number(4, 9))]
    aligned = lambda: "".join(f"{cell:<{width}}" for cell, width in zip(cells(), [14, 8, 10, 14, 22, 5]))
    right = lambda: "  ".join(f"{cell:>{width}}" for cell, width in zip(cells(), [14, 8, 10, 14, 22, 5]))
    matrix = lambda wide, made: times(40, lambda: made.join(f"{number(0, 10**wide):>{wide}}" for _ in range(12)))
    return {
        "table_markdown": times(40, lambda: "| " + " | ".join(pick(NOUNS).title() for _ in range(6)) + " |\n|" + "---|" * 6 + "\n" + times(8, lambda: "| " + " | ".join(cells()) + " |")),
        "table_short": times(60, lambda: times(10, lambda: "| " + " | ".join(short()) + " |") + "\n" + times(6, lambda: "|" + "|".join(short()) + "|")),
        "table_aligned": times(500, lambda: pick([aligned, right])()),
        "table_boxes": times(30, lambda: "+" + "+".join(["-" * 12] * 4) + "+\n" + times(6, lambda: "|" + "|".join(f" {cell[:10]:<11}" for cell in cells()[:4]) + "|")),
        "csv": times(500, lambda: ",".join(cells() + [f'"{pick(NOUNS)}, {pick(NOUNS)}"'])) + times(400, lambda: ";".join(short())),
        "tsv": times(400, lambda: "\t".join(cells())) + times(500, lambda: "\t".join(short())),
        "numbers": matrix(3, " ") + matrix(6, "  ") + matrix(9, "\t") + times(300, lambda: " ".join(f"{chance.gauss(0, 10**number(0, 5)):.{number(1, 8)}f}" for _ in range(8))) + times(150, lambda: ", ".join(str(number(-99, 99)) for _ in range(16))) + times(100, lambda: f"{chance.uniform(-1, 1):.6e} {chance.uniform(0, 1):.4f}% ${number(1, 999)},{number(0, 999):03}.{number(0, 99):02}"),
    }  # fmt: skip


def data():
    records = lambda count: [record() for _ in range(count)]
    pretty = "\n".join(json.dumps(each, indent=pick([2, 4]), ensure_ascii=False) for each in records(150))
    notebook = lambda: {"cell_type": pick(["code", "markdown"]), "execution_count": number(1, 99), "id": hexadecimal(8), "metadata": {}, "outputs": [{"name": "stdout", "output_type": "stream", "text": [f"{pick(NOUNS)} {number(1, 99)}\n"]}], "source": [f"{pick(NOUNS)} = pd.read_{word(3, 4)}('{path()}.csv')\n", f"{pick(NOUNS)}.{identifier()}(axis={number(0, 1)})"]}
    def yaml(node, depth=0):
        space = "  " * depth
        if isinstance(node, dict):
            return "".join(f"{space}{key}:\n{yaml(value, depth + 1)}" if isinstance(value, (dict, list)) else f"{space}{key}: {json.dumps(value)}\n" for key, value in node.items())
        if isinstance(node, list):
            return "".join(f"{space}-\n{yaml(value, depth + 1)}" if isinstance(value, (dict, list)) else f"{space}- {value}\n" for value in node)
        return f"{space}{node}\n"
    def xml(name, node, depth=0):
        space = "  " * depth
        if isinstance(node, dict):
            return f'{space}<{name} id="{number(1, 999)}">\n' + "".join(xml(key, value, depth + 1) for key, value in node.items()) + f"{space}</{name}>\n"
        if isinstance(node, list):
            return "".join(xml(name, each, depth) for each in node)
        return f"{space}<{name}>{node}</{name}>\n"
    database = sqlite3.connect(":memory:")
    database.execute("create table orders (id integer primary key, name text not null, amount real, placed_at text, note text)")
    database.executemany("insert into orders values (null, ?, ?, ?, ?)", [(pick(NAMES), round(chance.uniform(1, 999), 2), f"{moment()} {clock()}", pick([None, " ".join(pick(NOUNS) for _ in range(5))])) for _ in range(400)])
    query = lambda: f"SELECT {pick('abtu')}.{pick(NOUNS)}_id, COUNT(*) AS {pick(NOUNS)}_count, SUM({pick('abtu')}.{pick(NOUNS)})\nFROM {pick(NOUNS)}s AS a\n{pick(['LEFT', 'INNER'])} JOIN {pick(NOUNS)}s t ON t.{pick(NOUNS)}_id = a.id\nWHERE a.{pick(NOUNS)} {pick(['=', '>=', '<>', 'LIKE'])} '{word()}' AND t.{pick(NOUNS)}_at BETWEEN '{moment()}' AND '{moment()}'\nGROUP BY 1\nHAVING COUNT(*) > {number(1, 20)}\nORDER BY {number(1, 3)} DESC LIMIT {number(1, 100)};\n"
    headers = lambda: f"{pick(['GET', 'POST', 'DELETE'])} {path()} HTTP/1.1\nHost: {word()}.example.com\nUser-Agent: curl/8.{number(0, 9)}.0\nAccept: application/json, text/html;q=0.9, */*;q=0.8\nAuthorization: Bearer {base64.b64encode(chance.randbytes(30)).decode()}\nContent-Type: application/json; charset=utf-8\nContent-Length: {number(10, 9999)}\nIf-None-Match: \"{hexadecimal(32)}\"\nCookie: session={hexadecimal(24)}; theme={pick(NOUNS)}\n\nHTTP/1.1 {pick(['200 OK', '404 Not Found', '302 Found'])}\nDate: Mon, {number(1, 28)} Nov 2026 {clock()} GMT\nCache-Control: max-age={number(0, 86400)}, public\nServer: nginx/1.{number(10, 29)}.{number(0, 4)}\nSet-Cookie: id={hexadecimal(16)}; Path=/; HttpOnly; Secure; SameSite=Lax\nX-Request-Id: {uuid.UUID(int=chance.getrandbits(128))}\nVary: Accept-Encoding\n"
    return {
        "json_pretty": pretty,
        "json_lines": "\n".join(json.dumps(each, ensure_ascii=False) for each in records(300)),
        "json_dense": json.dumps(records(250), separators=(",", ":"), ensure_ascii=False),
        "json_notebook": json.dumps({"cells": [notebook() for _ in range(80)], "nbformat": 4}, indent=1),
        "yaml": "\n---\n".join(yaml(each) for each in records(150)),
        "xml_records": "".join(xml(pick(NOUNS), each) for each in records(120)),
        "toml_records": "\n".join("[" + identifier() + "]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in record(0).items() if value is not None) for _ in range(150)),
        "sql_dump": "\n".join(database.iterdump()),
        "sql_queries": times(150, query),
        "headers": times(60, headers),
    }  # fmt: skip


def diffs(cache):
    """What `git diff` prints, of code that was changed by chance."""
    made = []
    files = sorted((cache / "crates/vendor").glob("*/src/*.rs"))[::12] + sorted((cache / "unpacked").glob("libpython3.11-stdlib/**/*.py"))[::12]
    for file in files[:90]:
        old = file.read_text(encoding="utf-8", errors="replace").splitlines(True)[:400]
        new = [line.replace(pick(["self", "let", "the", "return", "i"]), pick(NOUNS)) if number(0, 25) == 0 else line for line in old if number(0, 40)]
        made.append(f"diff --git a/src/{file.name} b/src/{file.name}\nindex {hexadecimal(7)}..{hexadecimal(7)} 100644\n")
        made.append("".join(list(difflib.unified_diff(old, new, f"a/src/{file.name}", f"b/src/{file.name}"))[:90]))
        made.append(f"commit {hexadecimal(40)}\nAuthor: {pick(NAMES)} <{word()}@example.org>\nDate:   Tue {clock()} 2026 +0100\n\n    {pick(VERBS).title()} the {pick(NOUNS)} of the {pick(NOUNS)}\n\n")
    return "".join(made)


def printed():
    """What commands print here."""
    commands = """ls -laR /usr/lib/python3 /usr/share/perl5|ls -la /usr/bin /etc /usr/share/doc|ps aux|df -h|dpkg -l|find /usr/share/doc -maxdepth 2|
        du -a /usr/share/zoneinfo|cat /proc/meminfo /proc/interrupts /proc/modules|stat /etc /usr /bin/sh|lscpu|mount|apt-cache policy|
        cat /proc/cpuinfo|apt-cache depends bash perl|ls --full-time /usr/lib|wc /usr/share/common-licenses/GPL-3 /etc/services|getent passwd|
        cat /etc/services|dpkg -s bash coreutils|uname -a|sha256sum /bin/ls /bin/cat|head -c 3000 /etc/mime.types|apt-cache search editor|
        python3 --help|tar --help|gcc --help|ls --help|ip address|find /etc -type f"""
    made = []
    for command in commands.split("|"):
        command = command.strip()
        if shutil.which(command.split()[0]):
            found = subprocess.run(command.split(), capture_output=True, text=True, errors="replace", check=False).stdout
            lines = found.splitlines(True)
            made.append(f"user@{pick(HOSTS)}:~$ {command}\n" + "".join(lines[:: max(1, len(lines) // 120)][:120]))
    return "".join(made)


def usual(sentences, cache):
    """Code, data and what tools print."""
    chat = lambda: f"{pick(NAMES).split()[0]} [{clock()[:5]}]: {sentence(sentences)}"
    mail = lambda: f"From: {pick(NAMES)} <{word()}@example.com>\nTo: {pick(NAMES)} <{word()}@{word()}.net>\nSubject: Re: {' '.join(pick(NOUNS) for _ in range(4))}\nDate: Tue, {number(1, 28)} Nov 2026 {clock()} +0100\n\nHi {pick(NAMES).split()[0]},\n\n{sentence(sentences)}\n\n> {sentence(sentences)}\n> {sentence(sentences)}\n\nBest,\n{pick(NAMES)}\n"
    markdown = lambda: f"## {pick(NOUNS).title()} {pick(NOUNS)}\n\n{sentence(sentences)} See [{pick(NOUNS)}](https://{word()}.org{path()}) and `{identifier()}`.\n\n- **{pick(NOUNS).title()}**: {sentence(sentences)}\n- {sentence(sentences)}\n\n```sh\n{pick(['npm install', 'cargo run', 'git clone', 'docker run -it'])} {word()} --{pick(NOUNS)}={number(1, 99)}\n```\n"
    subtitle = lambda: f"{number(1, 900)}\n{clock()},{digits(3)} --> {clock()},{digits(3)}\n{sentence(sentences)[:80]}\n"
    minutes = lambda: f"{number(1, 9)}. {pick(NOUNS).title()} {pick(NOUNS)} ({pick(NAMES)})\n   - {sentence(sentences)}\n   - Action: {pick(NAMES).split()[0]} to have the {pick(NOUNS)} {pick(VERBS)} by {moment()}.\n"
    return {
        **logs(), **traces(), **tables(), **data(),
        "diffs": diffs(cache),
        "printed": printed(),
        "chat": times(200, chat),
        "mail": times(100, mail),
        "markdown": times(120, markdown),
        "subtitles": times(300, subtitle),
        "minutes": times(120, minutes),
        "identifiers": times(800, lambda: " ".join(identifier() for _ in range(number(1, 5)))),
        "urls": times(600, lambda: f"https://{pick(['www.', '', 'api.'])}{word()}.{pick(['com', 'org', 'de', 'io', 'co.uk'])}{path(6)}{pick(['', '.html', f'?{word()}={number(1, 999)}&{word()}={word()}', f'#{word()}', '/' + hexadecimal(12)])}"),
    }  # fmt: skip


FACES = "😀😂🤣😊😍😘🤔😎😢😭😡👍👎🙏👏🎉🔥❤💔✨⭐🌞🌧🍕🍺☕🚗✈🏠📱💻📷🎵⚽🏆🐶🐱🦊🌸🌲🎂🎁💰📅✅❌⚠🚀💡🔒👀🙈🤷🤦💪🥳🥺😴🤖👻"
JOINED = ["👩‍💻", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇯🇵", "🇧🇷", "👍🏽", "🙋🏻‍♀️", "❤️", "☀️", "1️⃣", "🧑🏿‍🚀", "⚠️", "✔️", "🤷‍♂️"]


def rare(sentences):
    """Everything else."""
    face = lambda: pick(JOINED) if number(0, 3) == 0 else pick(FACES)
    chat = lambda: f"{sentence(sentences)[:90]} {''.join(face() for _ in range(number(1, 4)))}"
    plain = lambda: sentence(sentences)
    shift = lambda text, start: "".join(chr(ord(ch) - 0x21 + start) if "!" <= ch <= "~" else "\u3000" for ch in text)
    mathematics = "∀∃∈∉⊂⊆∪∩∧∨¬⇒⇔→↦≤≥≠≈≡∞∑∏∫∂∇√±×÷αβγδεθλμπσφψωΓΔΘΛΣΦΩℝℕℤℚℂ²³⁻¹₀₁₂ⁿ·∘⊕⊗⟨⟩‖"
    formula = lambda: "".join(pick([pick(mathematics), pick("xyzabcfn"), " ", pick("()=+,01"), pick(["lim", "log", " for all "])]) for _ in range(number(20, 60)))
    box = lambda: "┌" + "─" * (wide := number(8, 30)) + "┐\n" + times(number(1, 4), lambda: "│ " + f"{pick(NOUNS)} {number(1, 99)}"[: wide - 2].ljust(wide - 2) + " │") + "└" + "─" * wide + "┘\n" + times(4, lambda: pick(["├── ", "└── ", "│   ├── ", "│   └── "]) + pick(NOUNS) + pick([".rs", ".py", "/"])) + "║" + "═" * number(3, 20) + "╬" + "█" * number(1, 20) + "░" * number(1, 20) + " " + f"{number(1, 100)}%\n"
    marked = str.maketrans("aeiousndhtrl", "āēīōūṣṇḍḥṭṛḷ")
    toned = str.maketrans("aeiou", "ǎéìōú")
    entry = lambda: f"{word()} /{word().translate(str.maketrans('aeioutsn', 'ɑɛɪɔʊθʃŋ'))}/ n. [{pick(['L', 'Gk', 'OE', 'Fr'])} {word()}] 1. {plain()[:60]}; 2. {pick(NOUNS)}, {pick(NOUNS)} (cf. {word()}); pl. -{word(2, 3)}."
    dump = lambda: f"{hexadecimal(8)}  {' '.join(hexadecimal(2) for _ in range(8))}  {' '.join(hexadecimal(2) for _ in range(8))}  |{''.join(pick(string.printable[:94] + '....') for _ in range(16))}|"
    listing = lambda: f"  {hexadecimal(6)}:\t{' '.join(hexadecimal(2) for _ in range(number(1, 7))):<21}\t{pick(['mov', 'lea', 'call', 'jmp', 'add', 'cmp', 'test', 'push'])}    {pick(['%rax,%rdi', '0x' + hexadecimal(2) + '(%rsp),%r12d', hexadecimal(6) + ' <' + identifier() + '+0x' + hexadecimal(2) + '>', '$0x' + hexadecimal(3) + ',%eax'])}"
    brackets = lambda: pick([
        lambda: "[" * number(1, 4) + ", ".join(str(number(0, 9)) for _ in range(number(2, 9))) + "]" * number(1, 4),
        lambda: "".join(f"({number(0, 99)},{number(0, 99)})" for _ in range(number(3, 9))),
        lambda: "{" + ", ".join(f"{{{number(0, 9)}, {number(0, 9)}}}" for _ in range(number(2, 7))) + "}",
        lambda: "".join(pick("<>[]{}()|/\\+-*^%$#@!?:;&~=_.,") for _ in range(number(10, 40))),
    ])()  # fmt: skip
    spaced = lambda: " ".join(plain()[:40])
    return {
        "hex": times(300, lambda: hexadecimal(pick([8, 16, 32, 40, 64, 128]), pick([True, False]))),
        "hex_dump": times(200, dump),
        "listing": times(300, listing),
        "base64": times(120, lambda: base64.b64encode(chance.randbytes(number(20, 400))).decode()),
        "uuid": times(300, lambda: f"{uuid.UUID(int=chance.getrandbits(128))} {pick(NOUNS)}"),
        "digits": times(300, lambda: pick([lambda: digits(number(5, 60)), lambda: f"+{number(1, 99)} {digits(3)} {digits(7)}", lambda: f"({digits(3)}) {digits(3)}-{digits(4)}", lambda: f"{pick(string.ascii_uppercase)}{pick(string.ascii_uppercase)}{digits(2)} {digits(4)} {digits(4)} {digits(4)}", lambda: f"SN-{hexadecimal(4, True)}-{digits(5)}", lambda: f"{number(1, 999)},{number(0, 999):03},{number(0, 999):03}"])()),
        "emoji_chat": times(500, chat),
        "emoji": times(300, lambda: "".join(face() for _ in range(number(2, 30)))),
        "boxes": times(90, box),
        "brackets": times(400, brackets),
        "mathematics": times(300, lambda: pick([formula, lambda: f"{plain()[:70]} {formula()}"])()),
        "capitals": times(200, lambda: plain().upper()),
        "titles": times(200, lambda: plain().title()),
        "joined": times(100, lambda: plain().replace(" ", pick(["", "_", "-", "."]))),
        "spaced": times(120, spaced),
        "fullwidth": times(120, lambda: shift(plain()[:60], 0xFF01)),
        "transliterated": times(250, lambda: plain().translate(marked)) + times(120, lambda: plain().translate(toned)),
        "dictionary": times(250, entry),
        "letters_styled": times(60, lambda: "".join(chr(0x1D400 + ord(ch) - 97 + 26) if "a" <= ch <= "z" else ch for ch in plain()[:50])),
        "separators": times(150, lambda: pick("-=*#_~.+/") * number(4, 100) + "\n" + pick(["", plain()[:60]])),
        "indented": times(300, lambda: pick(["\t", "  ", "    "]) * number(1, 9) + pick([identifier() + "(", "}", "end", "return " + identifier(), "- " + word(), "if " + identifier() + ":"])),
        "random_words": times(150, lambda: " ".join(word() for _ in range(12))),
        "letters": times(150, lambda: "".join(pick(string.ascii_letters) for _ in range(number(10, 60)))),
        "passwords": times(150, lambda: "".join(pick(string.printable[:94]) for _ in range(number(8, 40)))),
    }  # fmt: skip


def noise():
    """Letters and bytes by chance; runs of one character."""
    blocks = [(0x20, 0x7E), (0xA1, 0x24F), (0x370, 0x5FF), (0x600, 0x6FF), (0x900, 0xDFF), (0xE00, 0x10FF), (0x1200, 0x17FF), (0x1E00, 0x27BF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE30, 0xFFEF), (0x10000, 0x1FAFF), (0x20000, 0x2A6DF)]  # fmt: skip
    any_of = lambda low, high: chr(number(low, high))
    return {
        "ascii": times(300, lambda: "".join(any_of(32, 126) for _ in range(80))),
        "unicode": times(800, lambda: "".join(any_of(*block) for block in [pick(blocks)] for _ in range(40))),
        "mixed": times(400, lambda: "".join(any_of(*pick(blocks)) for _ in range(40))),
        "controls": times(100, lambda: "".join(any_of(0, 31) for _ in range(40))),
        "runs": times(1500, lambda: "".join(any_of(32, 126) * number(2, 60) for _ in range(3))),
        "runs_unicode": times(500, lambda: "".join(any_of(*pick(blocks)) * number(2, 20) for _ in range(3))),
    }
