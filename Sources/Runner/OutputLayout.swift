import Storage
import SystemPackage

/// Where everything of one capture lies in the output folder.
public struct OutputLayout: Hashable, Sendable {
  /// The `--output` folder.
  public var root: FilePath
  /// The capture's folder name.
  public var name: String

  public init(root: FilePath, name: String) {
    self.root = root
    self.name = name
  }

  public var folder: FilePath { root.appending(name) }
  public var captureDocument: FilePath { folder.appending("capture.json") }
  public func artifact(_ stage: String) -> FilePath { folder.appending(stage) }
  public func record(_ stage: String) -> FilePath {
    artifact(stage).appending("artifact.json")
  }

  /// Our own notes, hidden from people who look at results.
  public var notes: FilePath { folder.appending(".scanmill") }
  public var lock: FilePath { notes.appending("lock") }
  public var digestCache: FilePath { notes.appending("digests.json") }
  public var summary: FilePath { notes.appending("summary.json") }
  /// Records of intermediates that were removed after use.
  public func removedRecord(_ stage: String) -> FilePath {
    notes.appending("removed").appending("\(stage).json")
  }
  /// How the last attempt of a stage failed; absent after a success.
  public func failureNote(_ stage: String) -> FilePath {
    failed(stage).appending("failure.json")
  }

  public var stagingRoot: FilePath { folder.appending(".staging") }
  public func staging(_ stage: String, run: String) -> FilePath {
    stagingRoot.appending("\(stage).\(run)")
  }
  public func failed(_ stage: String) -> FilePath {
    folder.appending(".failed").appending(stage)
  }

  /// The folder of a run's journal.
  public static func run(_ id: String, in root: FilePath) -> FilePath {
    root.appending("runs").appending(id)
  }

  /// A capture id as a folder name: what is outside `[A-Za-z0-9._+@-]` becomes `-`; names that would
  /// hide or collide with our own folders get a leading `-`.
  public static func folderName(forID id: String) -> String {
    let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+@-")
    let name = String(id.map { allowed.contains($0) ? $0 : "-" })
    if name.isEmpty || name == "runs" || name.allSatisfy({ $0 == "." }) { return "-" + name }
    return name
  }
}
