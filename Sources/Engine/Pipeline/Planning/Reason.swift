import Captures
import Core

/// Why a job runs: the first reason that applies, in this order. Scripts depend on the raw values.
public enum Reason: String, Codable, CaseIterable, Sendable {
  case forced
  case neverBuilt = "never-built"
  case outputsMissing = "outputs-missing"
  case outputsAltered = "outputs-altered"
  case stageVersion = "stage-version"
  case parameters
  case inputChanged = "input-changed"
  case inputRebuilt = "input-rebuilt"
}

/// A reason with old and new values, for people.
struct Decision: Hashable, Sendable {
  /// `nil` means up to date.
  var reason: Reason?
  var details: [String] = []

  static let upToDate = Decision(reason: nil)
}

/// The published state of a stage.
public struct PublishedArtifact: Hashable, Sendable {
  public enum State: Hashable, Sendable {
    case intact
    case missing([String])
    case altered([String])
    /// The record is inconsistent or has an unknown schema; the text says why.
    case unsound(String)
    /// An intermediate that was removed after its dependents were done, while its record was kept.
    case removed
  }

  public var record: ArtifactRecord
  public var state: State
  /// Whether the record's fingerprint is known to match its content; if not, the planner computes
  /// it.
  public var isKnownSound = false
  /// Whether it lies in the folder of intermediates of the run at work.
  var isInScratch = false

  /// Whether its record is not to be believed.
  var isUnsound: Bool { if case .unsound = state { true } else { false } }

  /// The record with which dependents compare; `nil` for one that is not trusted.
  var believedRecord: ArtifactRecord? {
    if case .unsound = state { nil } else { record }
  }
}

/// The digest that a stage will read at a port.
enum PlannedInput: Hashable {
  case artifact(Digest)
  /// An optional input that does not exist.
  case none
  /// The input's stage will run first, so its digest is not known yet.
  case willBeRebuilt
}

extension Decision {
  /// Compares the published artifact with the planned one.
  ///
  /// - Parameters:
  ///   - planned: its `inputs.artifacts` is ignored; `upstream` is used instead.
  ///   - hasLostRecord: whether nothing counts as published because the record of what is there is gone.
  ///   - settingName: by which name a parameter is set.
  ///   - text: the value of a parameter as it is set.
  init(
    published: PublishedArtifact?, planned: FingerprintInputs, upstream: [String: PlannedInput],
    isForced: Bool, hasLostRecord: Bool = false, settingName: (String) -> String = { $0 },
    text: (String, JSONValue) -> String = { $1.plainText }
  ) {
    if isForced {
      self.init(reason: .forced)
      return
    }
    guard let published else {
      if hasLostRecord {
        self.init(
          reason: .outputsAltered, details: ["\(ArtifactRecord.fileName) is gone or cannot be read"]
        )
      } else {
        self.init(reason: .neverBuilt)
      }
      return
    }
    let record = published.record
    switch published.state {
    case .missing(let names):
      self.init(reason: .outputsMissing, details: Self.some(names))
      return
    case .altered(let names):
      self.init(reason: .outputsAltered, details: Self.some(names))
      return
    case .unsound(let why):
      self.init(reason: .outputsAltered, details: ["\(ArtifactRecord.fileName): \(why)"])
      return
    case .intact, .removed: break
    }
    if record.uses != planned.uses || record.version != planned.version {
      self.init(
        reason: .stageVersion,
        details: ["\(record.uses) \(record.version) -> \(planned.uses) \(planned.version)"])
      return
    }
    let libraries = Self.changedLibraries(record.libraries, planned.libraries)
    let changed = Self.changedParameters(record, planned, settingName, text)
    // Another parameter, or another file, may ask for one more library, or for one less.
    let files = Self.changedFiles(record.inputs, planned.inputs)
    let isOtherVersion = record.libraries.contains { name, version in
      planned.libraries[name].map { $0 != version } ?? false
    }
    if !libraries.isEmpty, isOtherVersion || (changed + files).isEmpty {
      self.init(reason: .stageVersion, details: libraries)
      return
    }
    if !changed.isEmpty {
      self.init(reason: .parameters, details: changed)
      return
    }
    if !files.isEmpty {
      self.init(reason: .inputChanged, details: files)
      return
    }
    let rebuilt = Self.rebuiltInputs(record.inputs.artifacts, upstream)
    if !rebuilt.isEmpty {
      self.init(reason: .inputRebuilt, details: rebuilt)
    } else if !published.isKnownSound, !Self.hasFingerprint(record, of: planned) {
      // All listed values are as planned, but the fingerprint does not match them: the record was
      // edited.
      self.init(reason: .outputsAltered, details: [ArtifactRecord.fileName])
    } else if !record.problems.isEmpty {
      // Part of it could not be made. Like every failure, this is tried again in every run.
      self.init(reason: .outputsMissing, details: Self.some(record.problems))
    } else {
      self = .upToDate
    }
  }

  /// Whether `record` has the fingerprint of `planned`, taking the artifacts from the record.
  private static func hasFingerprint(_ record: ArtifactRecord, of planned: FingerprintInputs)
    -> Bool
  {
    var planned = planned
    planned.inputs.artifacts = record.inputs.artifacts
    return (try? planned.fingerprint()) == record.fingerprint
  }

  private static func changedLibraries(
    _ old: [String: String], _ new: [String: String]
  ) -> [String] {
    old.differences(to: new).map { name, old, new in
      "\(name): \(old ?? "not recorded") -> \(new ?? "not used")"
    }
  }

  private static func changedParameters(
    _ record: ArtifactRecord, _ planned: FingerprintInputs, _ settingName: (String) -> String,
    _ text: (String, JSONValue) -> String
  ) -> [String] {
    let changes = record.parameters.differences(to: planned.parameters).map { name, old, new in
      let texts = [old, new].map { value in
        value.flatMap { $0 == .null ? nil : text(name, $0) } ?? "default"
      }
      return (
        isTold: texts[0] != texts[1], text: "\(settingName(name)): \(texts[0]) -> \(texts[1])"
      )
    }
    // A parameter that the program which made the record did not know, and that nothing sets, is told of only where
    // there is nothing else.
    let told = changes.filter(\.isTold)
    return (told.isEmpty ? changes : told).map(\.text)
  }

  private static func changedFiles(
    _ old: ArtifactRecord.Inputs, _ new: ArtifactRecord.Inputs
  ) -> [String] {
    if old.capture == new.capture, old.external == new.external { return [] }
    var changes: [String] = []
    if old.capture?.reader != new.capture?.reader {
      changes.append("reader: \(old.capture?.reader ?? "none") -> \(new.capture?.reader ?? "none")")
    }
    let parts = (old.capture?.files ?? [:]).differences(to: new.capture?.files ?? [:])
    let files = old.external.mapValues { [$0] }.differences(to: new.external.mapValues { [$0] })
    return changes
      + (parts + files).map { name, old, new in "\(name): \(short(old)) -> \(short(new))" }
  }

  private static func rebuiltInputs(
    _ old: [String: Digest], _ upstream: [String: PlannedInput]
  ) -> [String] {
    if old.isEmpty, upstream.isEmpty { return [] }
    // Old and new ports: disconnecting an input is a change too.
    return Set(old.keys).union(upstream.keys).sorted().compactMap { port in
      switch upstream[port] {
      case .artifact(let digest) where digest == old[port]: nil
      case .artifact(let digest): "\(port): \(short(old[port].map { [$0] })) -> \(short([digest]))"
      case .willBeRebuilt: "\(port): will be rebuilt first"
      case .some(.none), nil: old[port] == nil ? nil : "\(port): there before, absent now"
      }
    }
  }

  private static func short(_ digests: [Digest]?) -> String {
    guard let digests, !digests.isEmpty else { return "none" }
    return digests.map { String($0.hex.prefix(12)) }.joined(separator: "+")
  }

  private static func some(_ names: [String]) -> [String] {
    names.count <= 3 ? names : names.prefix(3) + ["and \(names.count - 3) more"]
  }
}

extension Dictionary where Key == String, Value: Equatable {
  /// The names, sorted, whose values differ; `nil`: there is none of the name.
  func differences(to other: Self) -> [(name: String, old: Value?, new: Value?)] {
    if self == other { return [] }
    return beside(other).filter { $0.old != $0.new }
  }
}

extension Dictionary where Key == String {
  /// The names of both, sorted, with the values that they have in each.
  func beside(_ other: Self) -> [(name: String, old: Value?, new: Value?)] {
    Set(keys).union(other.keys).sorted().map { ($0, self[$0], other[$0]) }
  }
}
