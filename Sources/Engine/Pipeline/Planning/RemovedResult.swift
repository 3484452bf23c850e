import Core

/// A result of an earlier run that goes because its stage has nothing to do for the capture any more: a file of the
/// capture is gone, or another one came. A run tells of it at its end, `-n` before it happens.
public struct RemovedResult: Sendable, Codable, Hashable {
  public var stage: String
  /// Why the stage has nothing to do.
  public var reason: String
  /// Files that it lists, and their bytes.
  public var files: Int
  public var bytes: Int64

  public init(stage: String, reason: String, files: Int, bytes: Int64) {
    (self.stage, self.reason, self.files, self.bytes) = (stage, reason, files, bytes)
  }

  /// `nil` where nothing lies in the output any more: an intermediate that was removed after use.
  init?(_ published: PublishedArtifact?, reason: String) {
    guard let published, published.state != .removed else { return nil }
    let record = published.record
    self.init(
      stage: record.stage, reason: reason, files: record.outputs.count,
      bytes: record.outputs.reduce(0) { $0 &+ $1.bytes })
  }

  /// `aligned of 1 capture (no intrinsics), 12 files`: one line per stage and reason, in the order of first appearance.
  ///
  /// - Parameter captures: the removed results of each capture.
  public static func lines(_ captures: some Sequence<[RemovedResult]>) -> [String] {
    var sums: [(one: RemovedResult, captures: Int)] = []
    for result in captures.joined() {
      if let index = sums.firstIndex(where: {
        $0.one.stage == result.stage && $0.one.reason == result.reason
      }) {
        sums[index].captures += 1
        sums[index].one.files += result.files
      } else {
        sums.append((result, 1))
      }
    }
    return sums.map { one, captures in
      "\(one.stage) of \(Plural.text(captures, "capture")) (\(one.reason)), \(Plural.text(one.files, "file"))"
        .onOneLine
    }
  }
}
