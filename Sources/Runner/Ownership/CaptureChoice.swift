import Captures
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Which of the captures that were found a run is about; the others are skipped, and keep their folders.
public struct CaptureChoice: Sendable {
  /// Empty: all.
  public var families: Set<CaptureFamily> = []
  /// Beginnings of ids, or of folder names in the output; empty: all.
  public var idPrefixes: [String] = []
  /// Patterns of the shell (`*`, `?`, `[…]`; `*` matches `/` too). A capture is left out when one matches
  /// its id, the name of its folder, its path, or its path below a folder that was searched.
  public var excluded: [String] = []
  /// Only captures of which a file was changed at this time or later (nanoseconds since 1970).
  public var sinceNanoseconds: Int64?

  public init() {}

  public var isEverything: Bool {
    families.isEmpty && idPrefixes.isEmpty && excluded.isEmpty && sinceNanoseconds == nil
  }

  /// Why a capture is not chosen; `nil`: it is.
  public func refusal(_ target: CaptureTarget, searched roots: [FilePath]) -> String? {
    let capture = target.recognition
    if !families.isEmpty, !families.contains(capture.family) {
      return "not selected: its family is \(capture.family.rawValue)"
    }
    if !idPrefixes.isEmpty,
      !idPrefixes.contains(where: {
        capture.id.utf8.starts(with: $0.utf8) || target.layout.name.utf8.starts(with: $0.utf8)
      })
    {
      return "not selected by --id"
    }
    if let pattern = excluded.first(where: { matches($0, capture, roots) }) {
      return "not selected: --exclude \(pattern)"
    }
    if let since = sinceNanoseconds {
      let newest = InputListing(capture, nowNanoseconds: .max)?.entries
        .map(\.stamp.modifiedNanoseconds).max()
      if let newest, newest < since { return "not selected: unchanged since the time of --since" }
    }
    return nil
  }

  /// The reports of those that are not chosen.
  public func skipped(_ targets: [CaptureTarget], searched roots: [FilePath]) -> [CaptureReport] {
    targets.compactMap { target in
      refusal(target, searched: roots).map { target.report(.skipped, $0) }
    }
  }

  private func matches(_ pattern: String, _ capture: Recognition, _ roots: [FilePath]) -> Bool {
    var names = [capture.id, capture.folder.text, capture.folder.name ?? ""]
    for root in roots {
      var path = capture.folder
      if path.removePrefix(root), !path.isEmpty { names.append(path.text) }
    }
    if let stem = capture.stem { names += names.dropFirst().map { "\($0)/\(stem)" } }
    return names.contains { name in
      PathText.withCString(pattern) { pattern in
        PathText.withCString(name) { fnmatch(pattern, $0, 0) }
      } == 0
    }
  }
}
