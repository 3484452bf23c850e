import Captures
import Core
import Glibc
import SystemPackage

/// Which of the captures that were found a run is about; of the others nothing is told, and they keep their
/// folders.
public struct CaptureChoice: Sendable {
  /// Empty: all.
  public var families: Set<CaptureFamily> = []
  /// Patterns are compared with a capture's id, the name of its folder or file, its path, and its path below a folder
  /// that was searched.
  public var names = NameChoice()
  /// Only captures of which a file was changed at this time or later (nanoseconds since 1970).
  public var sinceNanoseconds: Int64?

  public init() {}

  /// Why a capture is not chosen; `nil`: it is.
  public func refusal(_ target: CaptureTarget, searched roots: [FilePath]) -> String? {
    refusal(target.recognition, outputName: target.layout.name, searched: roots)
  }

  /// Why a capture is refused of which no results are made.
  ///
  /// - Parameter outputName: what its folder in an output is, or would be, called.
  public func refusal(
    _ capture: Recognition, outputName: String, searched roots: [FilePath]
  ) -> String? {
    if !families.isEmpty, !families.contains(capture.family) {
      return "not selected: its family is \(capture.family.rawValue)"
    }
    if let refusal = names.refusal(
      ids: [capture.id, outputName], names: calledNames(of: capture, roots))
    {
      return refusal
    }
    if let since = sinceNanoseconds {
      let newest = InputListing(capture, nowNanoseconds: .max)?.entries
        .map(\.stamp.modifiedNanoseconds).max()
      if let newest, newest < since { return "not selected: unchanged since the time of --since" }
    }
    return nil
  }

  /// What patterns are compared with.
  public func calledNames(of capture: Recognition, _ roots: [FilePath]) -> [String] {
    var names = [capture.id, capture.path.text, capture.path.name ?? ""]
    for root in roots {
      var path = capture.path
      if path.removePrefix(root), !path.isEmpty { names.append(path.text) }
    }
    if let stem = capture.stem { names += names.dropFirst().map { "\($0)/\(stem)" } }
    return names
  }
}

/// Which captures are asked for by what they are called: the same rules for captures on disk and for those in an
/// output folder.
public struct NameChoice: Sendable, Hashable {
  /// Beginnings of ids, or of folder names in the output, or patterns of the shell for them; empty: all. A `…` or
  /// `...` at the end, as texts show short ids, is left out.
  public var idPrefixes: [String]
  /// Patterns of the shell (`*`, `?`, `[…]`; `*` matches `/` too).
  public var excluded: [String]

  public init(idPrefixes: [String] = [], excluded: [String] = []) {
    self.idPrefixes = idPrefixes
    self.excluded = excluded
  }

  /// Why a capture is not chosen; `nil`: it is.
  ///
  /// - Parameters:
  ///   - ids: what it is called: its id, and the name of its folder in the output.
  ///   - names: what patterns are compared with, whole: its id, its folder, paths of it.
  public func refusal(ids: [String], names: @autoclosure () -> [String]) -> String? {
    if !idPrefixes.isEmpty,
      !idPrefixes.contains(where: { prefix in ids.contains { Self.begins($0, with: prefix) } })
    {
      return "not selected by --id"
    }
    if excluded.isEmpty { return nil }
    let names = names()
    return excluded.first { pattern in names.contains { Self.matches($0, pattern) } }
      .map { "not selected: --exclude \($0)" }
  }

  /// The `idPrefixes` that begin none of these ids: most likely mistyped.
  public func unknownPrefixes(among ids: some Sequence<String>) -> [String] {
    let ids = Array(ids)
    return idPrefixes.filter { prefix in !ids.contains { Self.begins($0, with: prefix) } }
  }

  /// The patterns of `excluded` that match none of these names: most likely mistyped.
  public func idleExclusions(among names: [String]) -> [String] {
    excluded.filter { pattern in !names.contains { Self.matches($0, pattern) } }
  }

  /// Compares bytes.
  private static func begins(_ id: String, with prefix: String) -> Bool {
    var prefix = prefix[...]
    for mark in ["…", "..."] where prefix.hasSuffix(mark) && !id.utf8.starts(with: prefix.utf8) {
      prefix = prefix.dropLast(mark.count)
    }
    if id.utf8.starts(with: prefix.utf8) { return true }
    return prefix.utf8.contains(where: "*?[".utf8.contains) && matches(id, String(prefix))
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    PathText.withCString(pattern) { pattern in
      PathText.withCString(name) { fnmatch(pattern, $0, 0) }
    } == 0
  }
}

/// Which id a user means by the beginning of one.
public enum IDPrefix {
  public enum Match: Hashable, Sendable {
    case one(String)
    case none
    /// Several ids begin so; sorted.
    case several([String])
  }

  /// A whole id wins over longer ones that begin with it. A `…` or `...` at the end, as texts show short
  /// ids, is left out.
  public static func match(_ text: String, among ids: some Sequence<String>) -> Match {
    let ids = Array(ids)
    if ids.contains(text) { return .one(text) }
    var prefix = text[...]
    for mark in ["…", "..."] where prefix.hasSuffix(mark) { prefix = prefix.dropLast(mark.count) }
    guard !prefix.isEmpty else { return .none }
    let found = ids.filter { $0.hasPrefix(prefix) }.sorted()
    switch found.count {
    case 0: return .none
    case 1: return .one(found[0])
    default: return .several(found)
    }
  }
}

/// A capture and where its results go.
public struct CaptureTarget: Sendable, Codable {
  public var recognition: Recognition
  public var layout: OutputLayout
  /// What is to be done before the folder is this capture's; `nil`: it is.
  var claim: Claim?
  /// Why nothing may be written there.
  var refusal: Failure?
  /// Whether it is left alone where a person marks it so before its work begins: the user did not name it.
  public var heedsMarks = false

  enum Claim: String, Codable {
    /// The folder is new.
    case make
    /// The folder was made from this capture, and its record of the owner is lost.
    case adopt
    /// The folder was made from this capture at a place that is gone.
    case move
  }

  /// Whether its folder in the output is its own already.
  public var isClaimed: Bool { claim == nil && refusal == nil }

  /// Whether it has no folder in the output yet.
  public var isNew: Bool { claim == .make && refusal == nil }

  /// The report of one that is not processed.
  public func skipped(_ why: String) -> CaptureReport { report(.skipped, Failure(message: why)) }

  /// The report of one that failed without a stage that says it.
  package func failed(_ why: Failure) -> CaptureReport { report(.failed, why) }

  /// The report of one whose results cannot be looked at.
  package func failed(_ error: FileError) -> CaptureReport {
    report(.failed, FailureClassifier.failure(error, .output))
  }

  func report(_ outcome: RunOutcome, _ why: Failure = Failure()) -> CaptureReport {
    CaptureReport(
      id: layout.name, path: recognition.path.shown, family: recognition.family.rawValue,
      outcome: outcome, why: why)
  }
}
