import Captures
import Core
import Engine
import Processing
import Synchronization

/// The rotations of a camera from picture to picture, found while the pictures are decoded.
///
/// Any number of threads may add pictures, in any order. A picture is kept until both of its neighbors have
/// come; some 30 kB each.
final class PictureTurns: Sendable {
  private struct State {
    var waiting: [Int: SmallPicture] = [:]
    /// Pictures that have come, and how many of their neighbors.
    var met: [Int: Int] = [:]
    var turns: [CameraTurn] = []
  }

  private let times: [Timestamp?]
  private let focalLengths: FocalLengths
  private let state = Mutex(State())

  init(_ capture: Capture) {
    times = capture.frames.map(\.pictureTime)
    focalLengths = FocalLengths(capture)
  }

  /// By time.
  var turns: [CameraTurn] { state.withLock { $0.turns }.sorted { $0.start < $1.start } }

  /// Whether a usual focal length stands in for one that is not known.
  var isFocalLengthAssumed: Bool { focalLengths.areAssumed }

  /// Decodes all pictures of a capture and compares neighbors.
  func decode(_ context: StageContext) throws {
    var own = context
    // Damage is reported by the stage that writes the pictures.
    own.warnings = WarningCollector()
    own.parameters = ParameterValues(defaultsOf: DecodeColor.parameters)
    context.progress.expect(times.count)
    _ = try DecodeColor.visit(own, CommonParameters.selection(own.parameters)) {
      frame, rgb, width, height in
      guard let picture = SmallPicture(rgb: rgb, width: width, height: height) else { return }
      self.add(frame, picture, longestSide: max(width, height))
    }
  }

  private func add(_ frame: Int, _ picture: SmallPicture, longestSide: Int) {
    let (before, after) = state.withLock { state in
      state.waiting[frame] = picture
      let pair = (state.waiting[frame - 1], state.waiting[frame + 1])
      for (neighbor, there) in [(frame - 1, pair.0), (frame + 1, pair.1)] where there != nil {
        for met in [neighbor, frame] {
          state.met[met, default: 0] += 1
          if state.met[met] == 2 {
            state.waiting[met] = nil
            state.met[met] = nil
          }
        }
      }
      return pair
    }
    if let before { compare(frame - 1, before, picture, longestSide) }
    if let after { compare(frame, picture, after, longestSide) }
  }

  private func compare(
    _ frame: Int, _ first: SmallPicture, _ second: SmallPicture, _ longestSide: Int
  ) {
    guard times.indices.contains(frame + 1), let start = times[frame], let end = times[frame + 1],
      let turn = CameraTurn(
        from: first, at: start, to: second, at: end,
        focalLength: focalLengths.pixels(frame, longestSide: longestSide))
    else { return }
    state.withLock { $0.turns.append(turn) }
  }
}

/// Focal lengths of the color camera, by frame.
private struct FocalLengths: Sendable {
  /// In parts of the longer side.
  private var byFrame: [Int: Double] = [:]
  private var common: Double?
  /// Focal length of a phone's wide camera, in parts of the longer side.
  private static let usual = 0.75

  init(_ capture: Capture) {
    let stated = capture.alignment?.colorIntrinsics
    common = stated.flatMap { Self.share($0.fx, $0.width, $0.height) }
    for row in capture.intrinsics.value ?? [] {
      byFrame[row.frame] = Self.share(
        row.fx, row.width ?? stated?.width, row.height ?? stated?.height)
    }
    common = common ?? byFrame.min { $0.key < $1.key }?.value
  }

  var areAssumed: Bool { common == nil }

  func pixels(_ frame: Int, longestSide: Int) -> Double {
    (byFrame[frame] ?? common ?? Self.usual) * Double(longestSide)
  }

  private static func share(_ focalLength: Double, _ width: Int?, _ height: Int?) -> Double? {
    guard let width, let height, max(width, height) > 0, focalLength > 0, focalLength.isFinite
    else { return nil }
    return focalLength / Double(max(width, height))
  }
}
