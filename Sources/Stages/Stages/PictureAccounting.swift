import Captures
import Media
import Engine
import Processing

/// Tracks the pictures of a video during an export: which ones were decoded, which are missing,
/// which are damaged. Checks at the end that the numbers are consistent.
struct PictureAccounting {
  private let counted: Int
  private let frameOfPicture: [Int]?
  /// Whether later pictures belong to later frames.
  private let isInOrder: Bool
  private let selection: FrameSelection
  private let width: Int?
  private let height: Int?
  /// By picture, whether it has been decoded.
  private var hasCome: [Bool]
  private var latest = -1
  /// Number of wanted pictures that were decoded.
  private(set) var wanted = 0
  private var patched: [Int] = []
  private var ofOtherSize = 0
  /// Pictures that were not counted, or were decoded before.
  private var surplus = 0
  /// Pictures after one that is displayed later.
  private var late = 0
  private(set) var isOver = false

  /// - Parameters:
  ///   - counted: number of pictures found without decoding.
  ///   - frameOfPicture: canonical frame of picture k; `nil` = k.
  ///   - width: upright width of the pictures, found without decoding.
  init(
    counted: Int, frameOfPicture: [Int]?, selection: FrameSelection, width: Int?, height: Int?
  ) {
    self.counted = counted
    self.frameOfPicture = frameOfPicture
    isInOrder = frameOfPicture.map { zip($0, $0.dropFirst()).allSatisfy(<) } ?? true
    self.selection = selection
    self.width = width
    self.height = height
    hasCome = [Bool](repeating: false, count: max(0, counted))
  }

  /// Records a decoded picture. Returns the frame as which it must be written; `nil` when it is not
  /// wanted.
  mutating func enter(_ picture: DecodedPicture) -> Int? {
    guard let index = picture.displayIndex, hasCome.indices.contains(index), !hasCome[index] else {
      surplus += 1
      return nil
    }
    guard let frame = frame(of: index) else {
      hasCome[index] = true
      return nil
    }
    if selection.isOver(at: frame), index > latest, isInOrder {
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

  /// Wanted frames whose picture was not decoded.
  var holes: [Int] {
    hasCome.indices.filter { !hasCome[$0] }.compactMap(frame).filter(selection.contains)
  }

  /// - Parameter picked: the frames that were picked of the wanted ones; `nil` if all were taken.
  func report(_ file: String, picked: Set<Int>? = nil, to warnings: WarningCollector) {
    let holes = holes
    var facts: [String] = []
    if !holes.isEmpty {
      facts.append(
        "\(holes.count) of \(counted) cannot be decoded and are holes: \(Self.list(holes))")
    }
    let kept = patched.filter { picked?.contains($0) ?? true }
    if !kept.isEmpty {
      facts.append(
        "\(kept.count) damaged, patched up by the decoder and kept: " + Self.list(kept.sorted()))
    }
    if kept.count < patched.count {
      let others = patched.filter { picked?.contains($0) == false }
      facts.append("\(others.count) damaged and not picked: " + Self.list(others.sorted()))
    }
    warnings.add(
      .corruptRecord, "color", count: holes.count + patched.count,
      "pictures of \(file): " + facts.joined(separator: "; "))
    warnings.add(
      .sizeMismatch, "color", count: ofOtherSize,
      "pictures of \(file) whose size is not \(width ?? 0)x\(height ?? 0); "
        + "they keep their own size")
  }

  /// The first few numbers, with runs as `12-15`.
  private static func list(_ frames: [Int]) -> String {
    let runs = NumberWords.runs(frames)
    let most = 8
    let texts = runs.prefix(most).map {
      $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
    }
    return texts.joined(separator: ", ") + (runs.count > most ? ", …" : "")
  }

  /// Checks that the decoded pictures are the counted ones without the holes, and that all of them or,
  /// if some were picked, those are written. In an undamaged video there must be no holes, surplus pictures or pictures
  /// out of order; a wrong byte of a header that no decoder notices can make them as well.
  ///
  /// - Parameter picked: number of pictures that were picked; `nil` if all were taken.
  func check(written: Int, of picked: Int? = nil, _ counts: VideoDecoder.Counts, of file: String)
    throws
  {
    let holes = holes.count
    let all = (0..<counted).compactMap(frame).count(where: selection.contains)
    guard wanted == all - holes, written == picked ?? wanted else {
      throw InternalError(
        "\(file): \(written) pictures written, but \(all) counted and \(holes) reported as missing"
          + (picked.map { ", \(wanted) decoded and \($0) picked" } ?? ""))
    }
    let isDamaged =
      counts.damageMessages + counts.refusedPackets + counts.damagedPictures + holes > 0
    guard isDamaged || surplus + late == 0 else {
      throw UnreadableStream(
        description:
          "\(file): of \(counted) pictures counted, \(late) came out of turn and \(surplus) more came than were "
          + "counted, while the decoder finds no damage: the file contradicts itself, or it is counted wrongly; compare "
          + "it with the one on the device, and report it if they are the same")
    }
  }
}
