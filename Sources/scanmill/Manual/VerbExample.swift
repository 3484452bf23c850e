import Synthetic

/// The example on a verb's manual page. All examples work in sequence in a folder with
/// `sample-data/`; a test runs them.
struct VerbExample {
  /// The effect, as one sentence.
  var purpose: String
  /// The command line without `scanmill`.
  var words: String

  var command: String { "scanmill " + words }

  static let all: [String: VerbExample] = [
    "run": VerbExample(
      purpose:
        "Process every capture below sample-data. The same command again does only what is not up to date.",
      words: "run sample-data --output out"),
    "watch": VerbExample(
      purpose: "Process the uploads in a folder that have stopped changing, then end.",
      words: "watch sample-data --output out --once --settle 1s"),
    "receive": VerbExample(
      purpose:
        "Receive uploads in the folder incoming, from this machine only, until it is interrupted.",
      words: "receive incoming --listen 127.0.0.1:0"),
    "inspect": VerbExample(
      purpose: "What is in a capture?",
      words: "inspect sample-data/session_2026-11-10T01-38-53Z"),
    "view": VerbExample(
      purpose: "What does a capture look like, and do color and depth belong together?",
      words: "view sample-data/session_2026-11-10T01-38-53Z -o look.png"),
    "status": VerbExample(
      purpose: "Which captures need a person?",
      words: "status out --state failed,quarantined,incomplete"),
    "explain": VerbExample(
      purpose: "What does a warning mean, and what should I do?", words: "explain frame-gap"),
    "report": VerbExample(
      purpose: "What became of the captures of the last 24 hours, for a script.",
      words: "report out --since 24h --format json"),
    "send": VerbExample(
      purpose: "Send a capture to the receiver of the lab; call it again after a break.",
      words: "send sample-data/session_2026-11-10T01-38-53Z --to http://127.0.0.1:8000"),
    "index": VerbExample(purpose: "Build the catalog of out/ again.", words: "index out"),
    "params": VerbExample(
      purpose: "What can be set in the pipeline that is used by default?", words: "params default"),
    "families": VerbExample(purpose: "Which formats are read?", words: "families"),
    "stages": VerbExample(
      purpose: "Everything about one stage.", words: "stages align-depth"),
    "graph": VerbExample(
      purpose: "The pipeline for point clouds, as text.", words: "graph point-cloud --format text"),
    "mark": VerbExample(
      purpose: "A capture that lacks frames is good enough: nobody need look at it again.",
      words: "mark out/session_2026-11-10T01-38-53Z done-as-is --note \"good enough\""),
    "clean": VerbExample(
      purpose: "List what failed attempts left behind; --yes removes it.",
      words: "clean out --failed"),
    "bench": VerbExample(
      purpose: "Measure one capture once, without a run to warm up.",
      words: "bench sample-data/session_2026-11-10T01-38-53Z --repeat 1 --warmup 0"),
    "synthesize": VerbExample(
      purpose: "Make a capture of ten frames with known truth.",
      words: "synthesize \(SyntheticFamilies.usual) --output made --frames 10 --seed 7"),
  ]

  /// The examples on the program's own page.
  static let first = ["run", "status"].compactMap { all[$0] }
}
