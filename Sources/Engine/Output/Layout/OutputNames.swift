/// The names of everything of ours in an output folder. They stand in folders of users: none of them changes.
public enum OutputNames {
  // MARK: In the folder of a capture, and partly in that of the output

  /// Our own notes, hidden from people who look at results; in the folder of the output as well.
  public static let notes = ".scanmill"
  /// Attempts at work.
  static let staging = ".staging"
  /// Attempts that failed, by stage.
  public static let failed = ".failed"
  /// The file in the folder of a failed attempt that says how it failed.
  public static let failure = "failure.json"
  /// What is known of the capture, for people.
  public static let document = "capture.json"
  /// The record in the folder of an artifact.
  public static let record = ArtifactRecord.fileName

  // MARK: In the notes of a capture

  /// Who works on it.
  static let lock = "lock"
  /// Digests of input files.
  public static let digests = "digests.json"
  /// What is known of the capture without opening it.
  public static let captureCache = "memo.json"
  /// Which place the folder belongs to.
  public static let owner = "owner.json"
  /// A copy of cache and records that is quick to read.
  public static let index = "index"
  /// Attempts that failed.
  public static let triage = "triage.json"
  /// What a person decided about the capture.
  static let mark = "mark.json"
  /// Records of intermediates that were removed after use.
  public static let removed = "removed"
  /// Records of stages that found out at work that there was nothing to do.
  public static let empty = "empty"

  // MARK: In the folder of the output

  /// Journals, a folder for each run.
  public static let runs = "runs"
  /// The report in the folder of a run.
  public static let run = "run.json"
  public static let events = "events.jsonl"
  /// The pipeline of a run, without secrets.
  public static let pipeline = "pipeline.yaml"
  /// Logs of stages, a folder for each capture.
  public static let logs = "logs"
  /// Orders, results and logs of the elements of a run on a cluster.
  public static let cluster = "slurm"

  // MARK: In the notes of the output

  /// All captures and runs as they were last read.
  public static let catalog = "catalog"
  /// What the watcher saw last.
  public static let watch = "watch.json"
  public static let watchLock = "watch.lock"
  /// Names that stand for those of people and devices.
  public static let aliases = "aliases.json"
  static let aliasesLock = "aliases.lock"
  /// When the watcher first saw what lies in the staging folder.
  public static let firstSeen = "looks.json"
  /// What the watcher last reported.
  public static let reported = "reported.json"
  /// Space for the next page and notes of a watcher, for a disk that is full.
  public static let reserve = "reserve"
  /// What people decided about captures without a folder in the output.
  static let marks = "marks.json"
  static let marksLock = "marks.lock"
  /// Results of captures that were retired, a folder for each.
  static let retired = "retired"
}
