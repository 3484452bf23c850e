import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// The published data of one capture that previews need.
package struct PublishedCapture: Sendable {
  /// Lines above the pictures; the id comes first.
  var title: [String]
  /// Artifacts by name (`color`, `aligned`, `depth`, `imu` and `tables`); each may be missing.
  package var inputs: [String: InputArtifact]
  /// Number of columns of the depth camera.
  var depthWidth: Int?

  package init(title: [String], inputs: [String: InputArtifact], depthWidth: Int?) {
    (self.title, self.inputs, self.depthWidth) = (title, inputs, depthWidth)
  }
}

/// Makes overview pictures of published data.
package enum OutputPreview {
  /// The overview of one capture.
  ///
  /// - Parameter frames: largest number of frames; by default three with depth, six without.
  package static func sheet(of capture: PublishedCapture, frames: Int? = nil) throws -> DrawnSheet {
    let pictures = PublishedPictures(capture.inputs, depthWidth: capture.depthWidth)
    var sheet = PreviewSheet(columns: 3)
    let most = PreviewSheet.pictureSize(columns: sheet.columns)
    let count = max(1, frames ?? (pictures.hasDepth ? 3 : 6))
    let chosen = SourcePreview.centers(of: pictures.frames.count, count: count)
      .map { pictures.frames[$0] }
    let shown = try concurrentMap(count: chosen.count) { pictures.shown(chosen[$0], most: most) }
    let range = FalseColor(of: shown.compactMap { $0?.depth })
    var drawn = DrawnSheet()
    let times = PublishedReadings.frameTimes(capture.inputs["tables"])
    let first = times.min { $0.key < $1.key }?.value
    for (frame, picture) in zip(chosen, shown) {
      guard let picture else { continue }
      drawn.frames.append(frame)
      drawn.add(
        picture, label: DrawnSheet.label(ofFrame: frame, times[frame], since: first), range,
        to: &sheet)
    }
    sheet.strip = MotionStrip.draw(
      PublishedReadings.series(capture.inputs["imu"]), frames: times.values.sorted(),
      shown: drawn.frames.compactMap { times[$0] }, width: PreviewSheet.width)
    drawn.note(part: sheet.strip == nil ? nil : "imu")
    if let problem = pictures.problem { drawn.notes.append("\(problem)") }
    if drawn.parts.isEmpty { drawn.notes.append("nothing that can be shown is published") }
    sheet.title = capture.title
    sheet.notes = drawn.notes
    drawn.picture = sheet.draw()
    return drawn
  }

  /// An overview with one picture of each capture and its id.
  package static func overview(of captures: [PublishedCapture], title: String) throws -> DrawnSheet
  {
    var sheet = PreviewSheet(columns: 4)
    let most = PreviewSheet.pictureSize(columns: sheet.columns)
    let cells = try concurrentMap(count: captures.count) { index -> (PreviewSheet.Cell, String?) in
      let pictures = PublishedPictures(
        captures[index].inputs, depthWidth: captures[index].depthWidth)
      let frame = pictures.frames.isEmpty ? nil : pictures.frames[pictures.frames.count / 2]
      let shown = frame.flatMap { pictures.shown($0, most: most) }
      let range = FalseColor(of: [shown?.depth].compactMap(\.self))
      let picture = shown?.overlay(range) ?? shown?.color ?? shown?.falseColor(range)
      let label = captures[index].title.first ?? ""
      return (
        PreviewSheet.Cell(label: label, pictures: [picture].compactMap(\.self)),
        picture == nil ? "\(label): nothing that can be shown is published" : nil
      )
    }
    sheet.title = [title]
    sheet.cells = cells.map(\.0)
    var drawn = DrawnSheet()
    drawn.notes = cells.compactMap(\.1)
    if drawn.notes.count < captures.count { drawn.parts = ["overview"] }
    drawn.picture = sheet.draw()
    return drawn
  }
}

/// Reads tables of an output for previews; what cannot be read is left out.
enum PublishedReadings {
  /// Acceleration and rotation, each with the sensors to use in order of preference.
  static let kinds: [(title: String, unit: String, sensors: [String])] = [
    ("acceleration", "m/s²", ["accelerometer", "userAcceleration", "gravity"]),
    ("rotation", "rad/s", ["gyroscope", "rotationRate"]),
  ]

  /// `timestamp_ns` by frame, from `frames.csv`.
  static func frameTimes(_ tables: InputArtifact?) -> [Int: Int64] {
    var times: [Int: Int64] = [:]
    read("frames.csv", of: tables, columns: ["frame", "timestamp_ns"]) { scanner, cells in
      guard let frame = scanner.timestamp(inCell: cells[0])?.nanoseconds,
        let frame = Int(exactly: frame),
        let time = scanner.timestamp(inCell: cells[1])?.nanoseconds
      else { return }
      times[frame] = time
    }
    return times
  }

  /// Acceleration and rotation, from `imu.csv`.
  static func series(_ imu: InputArtifact?) -> [MotionSeries3] {
    let sensors = kinds.flatMap(\.sensors)
    let names = sensors.map { Array($0.utf8) }
    var found = sensors.map { _ in MotionSeries3(title: "", unit: "", gapNanoseconds: .max) }
    let columns = ["timestamp_ns", "sensor_type", "x", "y", "z"]
    read("imu.csv", of: imu, columns: columns) { scanner, cells in
      guard let sensor = names.firstIndex(where: { scanner.cell(cells[1], holds: $0) }),
        let time = scanner.timestamp(inCell: cells[0])?.nanoseconds,
        let x = scanner.number(inCell: cells[2]).value,
        let y = scanner.number(inCell: cells[3]).value,
        let z = scanner.number(inCell: cells[4]).value
      else { return }
      found[sensor].append(time, x, y, z)
    }
    return kinds.compactMap { kind in
      let present = kind.sensors.first { name in
        sensors.firstIndex(of: name).map { !found[$0].nanoseconds.isEmpty } ?? false
      }
      guard let name = present, let place = sensors.firstIndex(of: name) else { return nil }
      var series = found[place]
      (series.title, series.unit) = ("\(kind.title) (\(name))", kind.unit)
      series.gapNanoseconds = usualGap(series.nanoseconds)
      return series
    }
  }

  /// The default rule of families that state none: three times the median step, at least 50 ms.
  private static func usualGap(_ times: [Int64]) -> Int64 {
    let steps = zip(times.dropFirst(), times).map {
      $0.subtractingReportingOverflow($1).partialValue
    }
    guard let median = Median.upper(steps) else { return .max }
    return median > .max / 3 ? .max : max(3 * median, 50_000_000)
  }

  /// Calls `body` with every whole row and the indices of `columns` in it.
  private static func read(
    _ name: String, of artifact: InputArtifact?, columns: [String],
    _ body: (borrowing CSVScanner, [Int]) -> Void
  ) {
    guard let artifact, artifact.record.outputs.contains(where: { $0.path == name }) else { return }
    let path = artifact.folder.appending(name)
    guard !FileSystem.isLink(path), var scanner = try? CSVScanner(path) else { return }
    var places: [Int]?
    while (try? scanner.nextLine()) == true, scanner.isLineClosed {
      if let places {
        body(scanner, places)
        continue
      }
      let header = (0..<scanner.cellCount).map { scanner.text(inCell: $0) }
      let found = columns.compactMap { header.firstIndex(of: $0) }
      guard found.count == columns.count else { return }
      places = found
    }
  }
}

/// Published pictures of a capture, which are read when displayed.
final class PublishedPictures: Sendable {
  private let colors: PublishedPictureFiles?
  private let depths: PublishedPictureFiles?
  private let isAligned: Bool
  private let depthWidth: Int?
  private let firstProblem = Mutex<(any Error)?>(nil)

  /// Frames with all kinds of pictures; if there are none, frames with any.
  let frames: [Int]

  /// - Parameters:
  ///   - inputs: artifacts by name (`color`, `aligned` and `depth`); each may be missing.
  ///   - depthWidth: number of columns of the depth camera.
  init(_ inputs: [String: InputArtifact], depthWidth: Int?) {
    func files(_ port: String) -> PublishedPictureFiles? {
      inputs[port].map { PublishedPictureFiles($0) }.flatMap { $0.frames.isEmpty ? nil : $0 }
    }
    let aligned = files("aligned")
    let (colors, depths) = (files("color"), aligned ?? files("depth"))
    (self.colors, self.depths, isAligned) = (colors, depths, aligned != nil)
    self.depthWidth = depthWidth
    let common = colors?.frames.filter { depths?[$0] != nil } ?? []
    frames = common.isEmpty ? (depths ?? colors)?.frames ?? [] : common
  }

  var hasDepth: Bool { depths != nil }

  /// The error of the first unreadable picture.
  var problem: (any Error)? { firstProblem.withLock { $0 } }

  /// The error of a picture of which nothing is known, because the machine failed or permission is lacking: it may be
  /// whole.
  var unknown: (any Error)? {
    switch problem {
    case let error as FileError: error.leavesUnknown ? error : nil
    case let error as ImageError: error.errorNumber == nil ? nil : error
    default: nil
    }
  }

  /// `nil` if nothing of the frame can be read.
  func shown(_ frame: Int, most: (width: Int, height: Int)) -> ShownFrame? {
    let color = colors.flatMap { colors in read(colors[frame]) { try colors.look($0) } }
    let depth = read(depths?[frame]) { try PNGReader.depth(at: $0) }
    if color == nil, depth == nil { return nil }
    return ShownFrame(
      color: color, aligned: isAligned ? depth : nil, depth: isAligned ? nil : depth,
      depthWidth: depthWidth, most: most)
  }

  /// Reads a picture. Links in an output may lead to files of others and are not followed.
  private func read<Picture>(
    _ file: FilePath?, _ body: (FilePath) throws -> Picture
  ) -> Picture? {
    guard let file else { return nil }
    do {
      guard try Self.kind(of: file) != .link else {
        throw ImageError(file: file, what: "is a link")
      }
      return try body(file)
    } catch {
      firstProblem.withLock { $0 = $0 ?? error }
      return nil
    }
  }

  private static func kind(of file: FilePath) throws(FileError) -> FileStatus.Kind {
    do throws(Errno) {
      return try FileStatus(of: file, followsLast: false).kind
    } catch {
      throw FileError(error, path: file, operation: "look at")
    }
  }
}

/// Frames and readings of the motion sensors as previews show them.
extension Capture {
  /// `frame 120  4.00 s`: the index, and the time since the first frame that has one.
  func label(ofFrame frame: Int) -> String {
    let first = frames.lazy.compactMap(\.timestamp).first
    let time = frames.indices.contains(frame) ? frames[frame].timestamp : nil
    return DrawnSheet.label(ofFrame: frame, time?.nanoseconds, since: first?.nanoseconds)
  }

  var motionSeries: [MotionSeries3] {
    guard let imu = imu.value else { return [] }
    return PublishedReadings.kinds.compactMap { kind in
      guard
        let sensor = kind.sensors.lazy.compactMap({ imu.sensors.firstIndex(of: $0) }).first
      else { return nil }
      let gaps = imu.gapThresholdNanoseconds
      var series = MotionSeries3(
        title: "\(kind.title) (\(imu.sensors[sensor]))", unit: kind.unit,
        gapNanoseconds: gaps.indices.contains(sensor) ? gaps[sensor] : .max)
      for sample in imu.samples where sample.sensor == sensor {
        series.append(sample.timestamp.nanoseconds, sample.x, sample.y, sample.z)
      }
      return series.nanoseconds.isEmpty ? nil : series
    }
  }

  /// Times of frames if they use the sensors' clock, else none.
  ///
  /// - Parameter chosen: `nil` for all frames.
  func timesBesideMotion(_ chosen: [Int]? = nil) -> [Int64] {
    guard framesShareIMUClock else { return [] }
    return (chosen ?? Array(frames.indices)).compactMap { frame in
      frames.indices.contains(frame) ? frames[frame].timestamp?.nanoseconds : nil
    }
  }
}
