import Captures
import Core
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

  private func calledNames(of capture: Recognition, _ roots: [FilePath]) -> [String] {
    var names = [capture.id, capture.path.text, capture.path.name ?? ""]
    for root in roots {
      var path = capture.path
      if path.removePrefix(root), !path.isEmpty { names.append(path.text) }
    }
    if let stem = capture.stem { names += names.dropFirst().map { "\($0)/\(stem)" } }
    return names
  }
}
