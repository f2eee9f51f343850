//! What can be asked on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use oneclaw_context::policy::{Policy, PolicyFault};
use oneclaw_context::truncate::{HEAD_CAP_UNITS, SHAPED_CAP_TOKENS, Shape};
use oneclaw_model::Effort;
use std::path::PathBuf;

/// No model has a window near this; larger numbers are typing mistakes.
pub const MOST_TOKENS: u64 = 1_000_000_000;

/// OneClaw's core on a desktop: what would be sent to a model, why, and how big it is.
#[derive(Debug, Parser)]
#[command(name = "oneclaw", version, arg_required_else_help = true)]
pub struct Cli {
    /// Print JSON, and nothing else, to standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Chat with a model in the terminal; without a key, with an embedded demo model
    #[command(after_help = "Examples:\n  \
        oneclaw chat\n  \
        oneclaw chat --provider anthropic --model claude-sonnet-4-5-20250929\n  \
        oneclaw chat --base-url http://localhost:11434/v1 --model llama3 --window 8192\n  \
        printf '%s\\n' 'What time is it?' /context | oneclaw chat --json\n\n\
        Input that is not a terminal is run line by line, each a message or a command such as /compact; /help lists \
        them. Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY are sent to the vendor itself and to \
        nobody else; ONECLAW_API_KEY to the address that --base-url names, or to the vendor that --provider or --model \
        chooses.")]
    Chat(ChatArgs),
    /// List the models a service offers, with window, longest reply, price and abilities
    #[command(after_help = "Examples:\n  \
        oneclaw models\n  \
        oneclaw models --provider anthropic opus\n  \
        oneclaw models --base-url http://localhost:11434/v1\n  \
        oneclaw models --known --provider openai --all\n  \
        oneclaw models --provider gemini --json | jq '.[] | select(.pictures).id'\n  \
        oneclaw models --learnt\n  \
        oneclaw models --forget gpt-4o\n\n\
        Prices are US dollars per million tokens. Keys come from the same variables as in `oneclaw chat`. What the service \
        says of windows is kept in the file, and counts in later chats.")]
    Models(ModelsArgs),
    /// Shorten a tool result the way it is shortened before it is stored
    #[command(after_help = "Examples:\n  \
        oneclaw truncate < page.html\n  \
        oneclaw truncate --shape head-tail --tokens 500 < build.log")]
    Truncate(TruncateArgs),
    /// Estimate the tokens of a transcript, row by row
    #[command(after_help = "Examples:\n  \
        oneclaw estimate < chat.jsonl\n  \
        oneclaw estimate --model claude-sonnet-4-5-20250929 --json < chat.jsonl")]
    Estimate(EstimateArgs),
    /// Decide what would be sent next: the decision and the exact requests, as JSON
    #[command(after_help = "Examples:\n  \
        oneclaw plan --window 128000 --model gpt-4o < chat.jsonl\n  \
        oneclaw plan --window 8192 --preset sven --set tail_messages=10 --moment after-tools < chat.jsonl\n  \
        oneclaw plan --window 200000 --system prompt.txt --tools tools.json < chat.jsonl")]
    Plan(PlanArgs),
    /// Bring a database file of the original app up to date
    #[command(after_help = "Examples:\n  \
        oneclaw migrate oneclaw.db --dry-run\n  \
        oneclaw migrate oneclaw.db")]
    Migrate(MigrateArgs),
    /// Show what is in a database file: schema version, tables, sessions, usage, compactions
    #[command(after_help = "Examples:\n  \
        oneclaw inspect oneclaw.db\n  \
        oneclaw inspect oneclaw.db --session 4f1c --json")]
    Inspect(InspectArgs),
    /// Put a transcript into a database file as a new session, and print the session's id
    #[command(after_help = "Examples:\n  \
        oneclaw import --db oneclaw.db < chat.jsonl\n\n\
        The file is created if there is none, and brought up to date if it is old.")]
    Import(ImportArgs),
    /// Print a session of a database file as a transcript
    #[command(after_help = "Examples:\n  \
        oneclaw export --db oneclaw.db --session 4f1c > chat.jsonl\n\n\
        `oneclaw inspect` lists the sessions. The file is brought up to date if it is old.")]
    Export(ExportArgs),
    /// Show the engine at work on a long sample conversation, turn by turn
    #[command(after_help = "Examples:\n  \
        oneclaw sample\n  \
        oneclaw sample --preset nous --window 32000 --turns 120")]
    Sample(SampleArgs),
    /// Hold long synthetic conversations under our presets and under the source documents, and count what fails
    #[command(after_help = "Examples:\n  \
        oneclaw simulate\n  \
        oneclaw simulate --turns 50000 --soak 1000000 --report proof.html\n  \
        oneclaw simulate --kinds coding,web --windows 8000,32000 --policies oneclaw,rfc-011 --json > results.json\n  \
        oneclaw simulate --results results.json --report proof.html\n  \
        oneclaw simulate --tokenizer gemma/tokenizer.json --model gemma-3 --policies oneclaw --turns 20000\n  \
        oneclaw simulate --estimates --tokenizer qwen/tokenizer.json\n\n\
        Kinds: chat, coding, web, cjk, tables, bursts, paste, switch, images. Policies: oneclaw, sven, nous, opencode; as \
        their documents have it rfc-011, sven-doc, nous-doc, opencode-doc, and sven-doc-safe in a kinder reading; and none. \
        No model is asked and nothing leaves this machine. Exit code 1: a promise was broken.")]
    Simulate(SimulateArgs),
}

/// `chat`
#[derive(Debug, Args)]
pub struct ChatArgs {
    /// The database file; made if there is none [default: oneclaw/oneclaw.db in the data folder]
    #[arg(long, value_name = "F")]
    pub db: Option<PathBuf>,
    /// The service that answers [default: the session's, or demo]
    #[arg(long, value_enum, value_name = "P")]
    pub provider: Option<ProviderName>,
    /// Another address of the service, such as that of a server on this machine
    #[arg(long, value_name = "U")]
    pub base_url: Option<String>,
    /// The model that answers [default: the session's, or the provider's first]
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// Its context window in tokens, if it is not known
    #[arg(long, value_name = "N", value_parser = some_tokens(), allow_hyphen_values = true)]
    pub window: Option<u64>,
    /// Its longest reply in tokens
    #[arg(long, value_name = "N", value_parser = some_tokens(), allow_hyphen_values = true)]
    pub max_output: Option<u64>,
    /// How much the model is to reason: none, minimal, low, medium, high, xhigh or max [default: as the model does]
    #[arg(long, value_name = "E", value_parser = effort, hide_possible_values = true)]
    pub effort: Option<Effort>,
    /// The knobs.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// The session to go on with [default: a new one]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The tools on offer: none, or names with commas between them [default: the agent's]
    #[arg(long, value_name = "LIST")]
    pub tools: Option<String>,
    /// A host that may be spoken to without encryption; may be repeated. This machine always may
    #[arg(long, value_name = "HOST")]
    pub allow_http: Vec<String>,
}

/// `models`
#[derive(Debug, Args)]
pub struct ModelsArgs {
    /// Only those with this in their id or name
    #[arg(value_name = "FILTER")]
    pub filter: Option<String>,
    /// The service that is asked [default: demo; with --base-url openai]
    #[arg(long, value_enum, value_name = "P")]
    pub provider: Option<ProviderName>,
    /// Another address of the service, such as that of a server on this machine
    #[arg(long, value_name = "U")]
    pub base_url: Option<String>,
    /// The database file; made if there is none [default: oneclaw/oneclaw.db in the data folder]
    #[arg(long, value_name = "F")]
    pub db: Option<PathBuf>,
    /// A host that may be spoken to without encryption; may be repeated. This machine always may
    #[arg(long, value_name = "HOST")]
    pub allow_http: Vec<String>,
    /// Also those that are switched off
    #[arg(long)]
    pub all: bool,
    /// Ask nobody: list what the catalogue of this program knows of the service
    #[arg(long)]
    pub known: bool,
    /// Ask nobody: list what refusals and reports taught about models, and when that is forgotten
    #[arg(long, conflicts_with_all = ["known", "provider", "base_url"])]
    pub learnt: bool,
    /// Forget what was learnt about the models with FILTER in their name or address; about all of them with --all
    #[arg(long, conflicts_with_all = ["known", "provider", "base_url", "learnt"])]
    pub forget: bool,
}

/// The services there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProviderName {
    /// OpenAI, and every compatible server
    Openai,
    /// Anthropic
    Anthropic,
    /// Google Gemini
    Gemini,
    /// The model server in this program: no key, no network
    Demo,
}

/// `truncate`
#[derive(Debug, Args)]
pub struct TruncateArgs {
    /// Characters (UTF-16 units) that shape `head` keeps
    #[arg(long, value_name = "N", default_value_t = HEAD_CAP_UNITS, allow_hyphen_values = true)]
    pub limit: usize,
    /// How to shorten
    #[arg(long, value_enum, default_value_t = ShapeName::Head)]
    pub shape: ShapeName,
    /// Tokens (four characters each) that every other shape keeps, notices included
    #[arg(long, value_name = "N", default_value_t = SHAPED_CAP_TOKENS as u64, value_parser = some_tokens(), allow_hyphen_values = true)]
    pub tokens: u64,
}

/// The ways to shorten.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ShapeName {
    /// The first characters, then a marker
    Head,
    /// The first 60 and the last 40 lines
    HeadTail,
    /// The leading lines
    MatchList,
    /// As much of the start as of the end
    FileContent,
    /// Up to the last line that fits
    Generic,
}

impl ShapeName {
    /// The output shape; `None` for `head`, which is none.
    pub fn shape(self) -> Option<Shape> {
        match self {
            Self::Head => None,
            Self::HeadTail => Some(Shape::HeadTail),
            Self::MatchList => Some(Shape::MatchList),
            Self::FileContent => Some(Shape::FileContent),
            Self::Generic => Some(Shape::Generic),
        }
    }
}

/// `estimate`
#[derive(Debug, Args)]
pub struct EstimateArgs {
    /// Count as this model would
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
}

/// `plan`
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Context window in tokens; 0 = unknown
    #[arg(long, value_name = "N", value_parser = tokens(), allow_hyphen_values = true)]
    pub window: u64,
    /// The model's own limit on the prompt, if it has one
    #[arg(long, value_name = "N", value_parser = tokens(), allow_hyphen_values = true)]
    pub input_limit: Option<u64>,
    /// The longest reply; known for the models of the catalogue
    #[arg(long, value_name = "N", value_parser = tokens(), allow_hyphen_values = true)]
    pub max_output: Option<u64>,
    /// The model that is asked; `oneclaw models --known` lists the catalogue
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// The knobs.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// When the plan is made
    #[arg(long, value_enum, default_value_t = MomentName::BeforeSend)]
    pub moment: MomentName,
    /// File with the agent's instructions
    #[arg(long, value_name = "F")]
    pub system: Option<PathBuf>,
    /// File with the tools offered: a JSON array of {name, description, parameters}
    #[arg(long, value_name = "F")]
    pub tools: Option<PathBuf>,
}

/// `migrate`
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// The database file
    #[arg(value_name = "DB")]
    pub file: PathBuf,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
}

/// `inspect`
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The database file
    #[arg(value_name = "DB")]
    pub file: PathBuf,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// `import`
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The database file
    #[arg(long = "db", value_name = "F")]
    pub file: PathBuf,
}

/// `export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The database file
    #[arg(long = "db", value_name = "F")]
    pub file: PathBuf,
    /// The session
    #[arg(long, value_name = "ID")]
    pub session: String,
}

/// `sample`
#[derive(Debug, Args)]
pub struct SampleArgs {
    /// Context window in tokens
    #[arg(long, value_name = "N", default_value_t = 16_000, value_parser = tokens(), allow_hyphen_values = true)]
    pub window: u64,
    /// How many user turns
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub turns: u64,
    /// The knobs.
    #[command(flatten)]
    pub policy: PolicyArgs,
}

/// `simulate`
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Where all chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Turns for each policy, dealt out over kinds, windows and summarisers
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub turns: u64,
    /// Turns for our default policy alone, after the comparison
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=100_000_000))]
    pub soak: u64,
    /// Kinds of conversation, with commas between them [default: all]
    #[arg(long, value_name = "LIST")]
    pub kinds: Option<String>,
    /// Windows in tokens, with commas between them [default: 2000 to 1000000]
    #[arg(long, visible_alias = "window", value_name = "LIST")]
    pub windows: Option<String>,
    /// Policies, with commas between them [default: all]
    #[arg(long, visible_alias = "policy", value_name = "LIST")]
    pub policies: Option<String>,
    /// The service counts with the vocabulary in this file, a tokenizer.json of Hugging Face [default: o200k]
    #[arg(long, value_name = "FILE")]
    pub tokenizer: Option<PathBuf>,
    /// The model's name as the engine is told it, by which it makes its assumptions [default: gpt-4o-sim; with --tokenizer one
    /// that it does not know]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The service says what a request would cost, where it is asked
    #[arg(long)]
    pub counting: bool,
    /// Only look at estimates: conversations under our default policy, and texts of every class
    #[arg(long, conflicts_with_all = ["policies", "soak", "markdown", "picture", "report", "results"])]
    pub estimates: bool,
    /// Write the report, an HTML file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the picture of request sizes, an SVG file
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// Print the table as Markdown
    #[arg(long)]
    pub markdown: bool,
    /// Show the results of an earlier run with --json instead of running
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Threads at work [default: one per processor]; they change nothing in the results
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub threads: Option<usize>,
}

/// The knobs of the engine.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Policy to start from: oneclaw, sven, nous or opencode
    #[arg(long, value_name = "P", default_value = "oneclaw")]
    pub preset: String,
    /// Change one knob of it; may be repeated
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    pub sets: Vec<String>,
}

impl PolicyArgs {
    /// The policy asked for.
    pub fn policy(&self) -> Result<Policy, PolicyFault> {
        self.sets.iter().try_fold(Policy::preset(&self.preset)?, |policy, set| policy.with(set))
    }
}

/// The moments a plan can be made at.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum MomentName {
    /// The user has sent something
    BeforeSend,
    /// Tool results are in
    AfterTools,
    /// The reply is complete
    AfterResponse,
}

fn effort(word: &str) -> Result<Effort, String> {
    Effort::of_word(word).ok_or_else(|| format!("one of {}", Effort::ALL.map(Effort::word).join(", ")))
}

fn some_tokens() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=MOST_TOKENS)
}

fn tokens() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(0..=MOST_TOKENS)
}
