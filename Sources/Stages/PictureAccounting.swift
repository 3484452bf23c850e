import Captures
import Codecs
import Pipeline
import Processing

/// Keeps account of the pictures of a video while it is exported: which came out of the decoder, which did
/// not, which are damaged; and whether the account is right at the end.
struct PictureAccounting {
  private let counted: Int
  private let frameOfPicture: [Int]?
  private let selection: FrameSelection
  private let width: Int?
  private let height: Int?
  /// By picture: has come out.
  private var hasCome: [Bool]
  private var latest = -1
  private var wanted = 0
  private var patched: [Int] = []
  private var ofOtherSize = 0
  /// Belong to no counted picture, or to one that has come already.
  private var surplus = 0
  /// Came after one that is shown later.
  private var late = 0
  private(set) var isOver = false

  /// - Parameters:
  ///   - counted: pictures found without decoding.
  ///   - frameOfPicture: canonical frame of picture k; `nil` = k.
  ///   - width: of the pictures as they were found without decoding, upright.
  init(
    counted: Int, frameOfPicture: [Int]?, selection: FrameSelection, width: Int?, height: Int?
  ) {
    self.counted = counted
    self.frameOfPicture = frameOfPicture
    self.selection = selection
    self.width = width
    self.height = height
    hasCome = [Bool](repeating: false, count: max(0, counted))
  }

  /// Takes in a picture as it comes out of the decoder. The frame as which it is to be written; `nil` when
  /// it is not wanted.
  mutating func enter(_ picture: DecodedPicture) -> Int? {
    guard let index = picture.index, hasCome.indices.contains(index), !hasCome[index] else {
      surplus += 1
      return nil
    }
    guard let frame = frame(of: index) else {
      hasCome[index] = true
      return nil
    }
    if selection.isOver(at: frame), index > latest, frameOfPicture == nil {
      isOver = true
      return nil
    }
    hasCome[index] = true
    if index < latest { late += 1 }
    latest = max(latest, index)
    guard selection.contains(frame) else { return nil }
    if picture.isDamaged { patched.append(frame) }
    if picture.width != width ?? picture.width || picture.height != height ?? picture.height {
      ofOtherSize += 1
    }
    wanted += 1
    return frame
  }

  private func frame(of index: Int) -> Int? {
    guard let frameOfPicture else { return index }
    return frameOfPicture.indices.contains(index) ? frameOfPicture[index] : nil
  }

  /// Frames that are wanted and whose picture did not come.
  var holes: [Int] {
    hasCome.indices.filter { !hasCome[$0] }.compactMap(frame).filter(selection.contains)
  }

  /// Of the pictures that are counted and belong to a frame.
  private var frames: [Int] { (0..<counted).compactMap(frame) }

  /// - Parameter settings: the parameters that select, as they are set.
  func report(_ file: String, settings: String, to warnings: WarningCollector) {
    let frames = frames
    if !frames.isEmpty, !frames.contains(where: selection.contains) {
      warnings.add(
        .nothingLeft, "color", count: frames.count,
        "0 of \(frames.count) pictures of \(file) are left: \(settings)")
    }
    let holes = holes
    var facts: [String] = []
    if !holes.isEmpty {
      facts.append(
        "\(holes.count) of \(counted) cannot be decoded and are holes: \(Self.list(holes))")
    }
    if !patched.isEmpty {
      facts.append(
        "\(patched.count) damaged, patched up by the decoder and kept: "
          + Self.list(patched.sorted()))
    }
    warnings.add(
      .corruptRecord, "color", count: holes.count + patched.count,
      "pictures of \(file): " + facts.joined(separator: "; "))
    warnings.add(
      .sizeMismatch, "color", count: ofOtherSize,
      "pictures of \(file) whose size is not \(width ?? 0)x\(height ?? 0); "
        + "they keep their own size")
  }

  /// The first few numbers, runs as `12-15`.
  private static func list(_ frames: [Int]) -> String {
    var runs: [ClosedRange<Int>] = []
    for frame in frames {
      if let last = runs.last, last.upperBound + 1 == frame {
        runs[runs.count - 1] = last.lowerBound...frame
      } else {
        runs.append(frame...frame)
      }
    }
    let most = 8
    let texts = runs.prefix(most).map {
      $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
    }
    return texts.joined(separator: ", ") + (runs.count > most ? ", …" : "")
  }

  /// Pictures written must be pictures counted less the holes; in an undamaged video there is no hole, no
  /// picture too many, and none out of turn.
  func check(written: Int, _ counts: VideoDecoder.Counts, of file: String) throws {
    let holes = holes.count
    let all = frames.count(where: selection.contains)
    guard written == all - holes, written == wanted else {
      throw InternalError(
        "\(file): \(written) pictures written, but \(all) counted and \(holes) reported as missing")
    }
    let isDamaged =
      counts.damageMessages + counts.refusedPackets + counts.damagedPictures + holes > 0
    guard isDamaged || surplus + late == 0 else {
      throw InternalError(
        "\(file): of \(counted) pictures counted, \(late) came out of turn and \(surplus) more came "
          + "than were counted, although nothing is damaged")
    }
  }
}
