import Core
import SystemPackage

/// The places of everything of one capture in the output folder.
public struct OutputLayout: Hashable, Sendable, Codable {
  /// The `--output` folder.
  @CodedPath public var root: FilePath
  /// The capture's folder name.
  public var name: String

  /// From then on no link below `root` is followed in this process, whoever opens a path there; on the way
  /// to it links are.
  public init(root: FilePath, name: String) {
    self.root = root
    self.name = name
    EnclosedPaths.enclose(root, links: .none)
  }

  /// The layout of a folder that may be the output of a capture, or anything else; `nil` for a folder
  /// without a name. The folder above is not taken for an output: what lies beside `folder` stays open, links
  /// to a user's captures among them.
  public static func candidate(_ folder: FilePath) -> OutputLayout? {
    folder.name.map { OutputLayout(unchecked: folder.removingLastComponent(), name: $0) }
  }

  private init(unchecked root: FilePath, name: String) {
    self.root = root
    self.name = name
  }

  private enum CodingKeys: CodingKey {
    case root, name
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      root: try values.decode(CodedPath.self, forKey: .root).wrappedValue,
      name: try values.decode(String.self, forKey: .name))
  }

  public var folder: FilePath { root.appending(name) }
  public var captureDocument: FilePath { folder.appending(OutputNames.document) }
  public func artifact(_ stage: String) -> FilePath { folder.appending(stage) }
  public func record(_ stage: String) -> FilePath {
    artifact(stage).appending(OutputNames.record)
  }

  /// Our own notes, hidden from people who look at results.
  public var notes: FilePath { folder.appending(OutputNames.notes) }
  /// The folder of notes, opened for looking; no link is followed below `root`.
  func openNotes() -> HeldFolder? {
    HeldFolder(folder, followsLast: false)?.below(OutputNames.notes)
  }
  public var lock: FilePath { notes.appending(OutputNames.lock) }
  var digestCache: FilePath { notes.appending(OutputNames.digests) }
  /// What is known of the capture without opening it.
  public var captureCache: FilePath { notes.appending(OutputNames.captureCache) }
  /// Which place the folder belongs to.
  package var owner: FilePath { notes.appending(OutputNames.owner) }
  /// A copy of cache and records that is quick to read.
  package var index: FilePath { notes.appending(OutputNames.index) }
  /// Records of intermediates that were removed after use.
  var removedRecords: FilePath { notes.appending(OutputNames.removed) }
  public func removedRecord(_ stage: String) -> FilePath {
    removedRecords.appending("\(stage).json")
  }
  /// Records of stages that found out at work that there was nothing to do.
  func emptyRecord(_ stage: String) -> FilePath {
    notes.appending(OutputNames.empty).appending("\(stage).json")
  }
  /// How the last attempt of a stage failed; absent after a success.
  func failureNote(_ stage: String) -> FilePath {
    failed(stage).appending(OutputNames.failure)
  }

  var stagingRoot: FilePath { folder.appending(OutputNames.staging) }
  func staging(_ stage: String, attempt: String) -> FilePath {
    stagingRoot.appending(Self.stagingName(stage, attempt: attempt))
  }
  /// The place of the old artifact while the new one is put in its place.
  func aside(_ stage: String, attempt: String) -> FilePath {
    stagingRoot.appending(Self.asideName(stage, attempt: attempt))
  }
  /// Names in staging; `StagingName` reads them.
  static func stagingName(_ stage: String, attempt: String) -> String {
    "\(stage).\(attempt)"
  }
  static func asideName(_ stage: String, attempt: String) -> String {
    "~\(stage).\(attempt)"
  }
  /// An artifact that is about to be removed.
  static func trashName(_ stage: String, attempt: String) -> String {
    "~~\(stage).\(attempt)"
  }
  public var failedRoot: FilePath { folder.appending(OutputNames.failed) }
  public func failed(_ stage: String) -> FilePath { failedRoot.appending(stage) }

  /// The folder of a run's journal.
  public static func run(_ id: String, in root: FilePath) -> FilePath {
    EnclosedPaths.enclose(root, links: .none)
    return root.appending(OutputNames.runs).appending(id)
  }

  /// The folder of a run's logs about one capture.
  static func logs(of capture: String, run: String, in root: FilePath) -> FilePath {
    Self.run(run, in: root).appending(OutputNames.logs).appending(capture)
  }

  /// The log of one stage of one capture in one run.
  public static func log(
    of stage: String, capture: String, run: String, in root: FilePath
  ) -> FilePath {
    logs(of: capture, run: run, in: root).appending("\(stage).log")
  }

  /// A capture id as a folder name, as `OutputName` says.
  public static func folderName(forID id: String) -> String { OutputName.of(id: id) }
}

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
