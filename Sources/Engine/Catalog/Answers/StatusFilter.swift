import Captures
import Core
import SystemPackage

/// Which captures an answer is about; all that is set must hold.
public struct StatusFilter: Equatable, Sendable {
  /// Empty: all.
  public var states: Set<CaptureState> = []
  /// Only those that need a person.
  public var needsPerson = false
  public var families: Set<String> = []
  /// Part of a device's name, model or id, letters in any case.
  public var device: String?
  /// Worked on, or seen in its state, at this time or later (nanoseconds since 1970).
  public var sinceNanoseconds: Int64?
  public var warning: WarningCode?
  /// Verdicts on the quality; empty: all. A capture that was not judged has none of them.
  public var qualities: Set<CaptureQuality.Level> = []
  /// Part of scene, device or id, letters in any case.
  public var search: String?
  /// Beginnings of ids, and patterns of what is left out, as `run` takes them.
  public var names = NameChoice()

  public init() {}

  /// Which captures can be left out without a look at their results; `nil`: none.
  public var choice: OutputReader.Choice? {
    // Who names captures is told of names that nothing has, whatever else is asked for.
    let choice = OutputReader.Choice(
      identity: identity, document: names == NameChoice() ? document : nil)
    return choice.identity == nil && choice.document == nil ? nil : choice
  }

  /// Whether a row has one of the names and families that are asked for; `nil`: any.
  private var identity: (@Sendable (CaptureRow) -> Bool)? {
    if families.isEmpty, names == NameChoice() { return nil }
    return { [families, names] row in
      (families.isEmpty || families.contains(row.family ?? ""))
        && names.refusal(ids: row.callNames, names: row.matchNames) == nil
    }
  }

  /// Whether a row has the device and the scene that are asked for; `nil`: any.
  private var document: (@Sendable (CaptureRow) -> Bool)? {
    if device == nil, search == nil { return nil }
    return { [device = device?.lowercased(), search = search?.lowercased()] row in
      if let device {
        let texts = [row.deviceInfo.name, row.deviceInfo.model, row.deviceInfo.id]
        guard texts.contains(where: { $0.map { Self.has($0.lowercased(), device) } == true })
        else { return false }
      }
      return search.map { Self.has(row.searchText, $0) } ?? true
    }
  }

  public func holds(_ row: CaptureRow) -> Bool {
    if let identity, !identity(row) { return false }
    if let document, !document(row) { return false }
    if !states.isEmpty, !states.contains(row.state) { return false }
    if needsPerson, !row.needsPerson { return false }
    if let warning, !row.warnings.contains(where: { $0.code == warning }) { return false }
    if !qualities.isEmpty {
      guard let verdict = row.quality?.verdict, qualities.contains(verdict) else { return false }
    }
    if let since = sinceNanoseconds {
      let times = [row.lastRun, row.since].compactMap { $0.flatMap(UTCText.nanoseconds) }
      guard let newest = times.max(), newest >= since else { return false }
    }
    return true
  }

  /// Compares bytes, as the catalog does.
  private static func has(_ text: String, _ part: String) -> Bool {
    part.isEmpty || text.utf8.firstRange(of: Array(part.utf8)) != nil
  }
}

extension CaptureRow {
  /// What `--id` compares with.
  public var callNames: [String] { [id, name].compactMap(\.self) }

  /// What patterns are compared with: names, and the path of the capture with each of its ends, because the
  /// folder that a run searched is not known any more.
  var matchNames: [String] {
    guard let folder else { return callNames }
    let parts = FilePath(text: folder).components.map(\.string)
    var paths = parts.indices.map { parts[$0...].joined(separator: "/") } + [folder]
    if let stem { paths += paths.map { "\($0)/\(stem)" } }
    return callNames + paths
  }
}
