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
