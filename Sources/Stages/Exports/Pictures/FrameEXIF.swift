import Captures
import Core
import Engine

/// EXIF of exported JPEG files: what viewers, photogrammetry and maps read there. Pixels stay as they are.
struct FrameEXIF {
  enum Content: String, CaseIterable {
    case camera, place
  }

  static let parameter = Parameter<Content?>(
    "exif", .choice(or: "none"), default: nil,
    "EXIF of JPEG files that have none. camera: focal length (35 mm equivalent) and time. place: the position too. "
      + "Files are no longer those of color/."
  ).needing(ExportParameters.encoding, .same, .jpeg).added()

  /// For the fingerprint of exports with EXIF: higher when the same frame gets other tags.
  static func versions(_ parameters: ParameterValues) -> [String: String] {
    parameters[parameter] == nil ? [:] : ["exif": "2"]
  }

  private let source: ExportSource
  private let clock: AbsoluteClock?
  private let track: GeoTrackSource?

  /// `nil` unless it is asked for.
  init?(_ source: ExportSource) throws {
    let context = source.context
    guard let content = context.parameters[Self.parameter] else { return nil }
    self.source = source
    clock =
      context.parameters[ExportParameters.clock] == .unix
      ? .unix : try? AbsoluteClock(context.capture)
    var track: GeoTrackSource?
    do {
      if content == .place { track = try GeoTrackSource(context) }
    } catch is StageDoesNotApply {}
    self.track = track
  }

  /// For `README.txt`; `nil` unless it is asked for.
  static func remark(_ parameters: ParameterValues) -> String? {
    parameters[parameter].map { content in
      "JPEG files have EXIF where these are known: the focal length as that of 35 mm film (by the diagonal, whole "
        + "millimeters) and the time in UTC, good to seconds"
        + (content == .place
          ? ", and the position with its accuracy, the direction and the time (personal data)."
          : ".")
    }
  }

  /// Puts the tags of a frame into its file, before the pixels, unless it has EXIF already.
  func insert(_ frame: Int, into file: inout [UInt8]) throws {
    guard let place = try Self.place(in: file, frame) else { return }
    let tiff = tiff(frame)
    let length = UInt16(2 + 6 + tiff.count)
    file.insert(
      contentsOf: [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 0xff)] + Array("Exif\0\0".utf8)
        + tiff, at: place)
  }

  /// Behind the first marker and the header of JFIF; `nil` with EXIF.
  private static func place(in file: [UInt8], _ frame: Int) throws -> Int? {
    guard file.starts(with: [0xff, 0xd8]) else {
      throw StageFailure("frame \(frame): no JPEG file")
    }
    var (place, found) = (2, 2)
    while place + 4 <= file.count, file[place] == 0xff, (0xe0...0xef).contains(file[place + 1]) {
      if file[place + 1] == 0xe1, file[(place + 4)...].starts(with: Array("Exif\0".utf8)) {
        return nil
      }
      let next = place + 2 + Int(file[place + 2]) << 8 + Int(file[place + 3])
      if file[place + 1] == 0xe0 { found = next }
      place = next
    }
    guard found <= file.count else { throw StageFailure("frame \(frame): the JPEG file is cut") }
    return found
  }

  private func tiff(_ frame: Int) -> [UInt8] {
    var exif = [Tag.undefined(0x9000, "0232")]
    let time = source.context.capture.frames[frame].pictureTime.flatMap { clock?.text($0) }
    if let time {
      // 2012-08-07T15:10:57.250Z
      let (day, clock) = (time.prefix(10), time.dropFirst(11).prefix(8))
      exif += [
        .text(0x9003, "\(day.replacing("-", with: ":")) \(clock)"), .text(0x9011, "+00:00"),
        .text(0x9291, String(time.dropFirst(20).prefix { $0.isNumber })),
      ]
    }
    if let camera = source.cameras[frame] {
      let (width, height) = (Double(camera.width), Double(camera.height))
      let diagonal = (width * width + height * height).squareRoot()
      let filmDiagonal = (36.0 * 36 + 24 * 24).squareRoot()
      let millimeters = (camera.fx + camera.fy) / 2 * filmDiagonal / diagonal
      exif += [
        .long(0xa002, camera.width), .long(0xa003, camera.height),
        .short(0xa405, Int(min(max(millimeters.rounded(), 1), 65_535))),
      ]
    }
    let gps = position(frame).map { Self.gps($0, time) }
    // The header, then a directory that leads to the others.
    let first = 8
    let exifStart = first + Tag.bytes(of: gps == nil ? 2 : 3)
    let exifBytes = Tag.directory(exif, at: exifStart)
    // Exported pictures are upright.
    var root = [Tag.short(0x112, 1), .long(0x8769, exifStart)]
    if gps != nil { root.append(.long(0x8825, exifStart + exifBytes.count)) }
    return Array("II*\0".utf8) + [UInt8(first), 0, 0, 0] + Tag.directory(root, at: first)
      + exifBytes + (gps.map { Tag.directory($0, at: exifStart + exifBytes.count) } ?? [])
  }

  /// Only what was measured at the frame, or between two fixes of a track.
  private func position(_ frame: Int) -> TrackPoint? {
    switch source.context.capture.geo.value?.coverage {
    case .everyFrame?: break
    case .firstFrameOnly?: if frame != 0 { return nil }
    case .frames(let measured)?: if !measured.contains(frame) { return nil }
    case nil: return nil
    }
    return track?.place(frame)?.point
  }

  /// - Parameter time: the time of the picture, UTC: `2012-08-07T15:10:57.250Z`.
  private static func gps(_ point: TrackPoint, _ time: String?) -> [Tag] {
    let (latitude, longitude) = (point.place.latitude, point.place.longitude)
    var tags = [
      Tag(id: 0, type: 1, count: 4, bytes: [2, 3, 0, 0]),
      .text(1, latitude < 0 ? "S" : "N"), .degrees(2, latitude),
      .text(3, longitude < 0 ? "W" : "E"), .degrees(4, longitude),
    ]
    if let altitude = point.altitude {
      tags += [
        Tag(id: 5, type: 1, count: 1, bytes: [altitude < 0 ? 1 : 0]),
        .rationals(6, [(Int((abs(altitude) * 1000).rounded()), 1000)]),
      ]
    }
    if let time {
      let clock = time.dropFirst(11).split { !$0.isNumber }.compactMap { Int($0) }
      if clock.count == 4 {
        tags += [
          .rationals(7, [(clock[0], 1), (clock[1], 1), (clock[2] * 1000 + clock[3], 1000)]),
          .text(0x1d, String(time.prefix(10)).replacing("-", with: ":")),
        ]
      }
    }
    // Clockwise from true north.
    if let heading = point.heading, (0...360).contains(heading) {
      tags += [
        .text(0x10, "T"), .rationals(0x11, [(Int((heading * 100).rounded()) % 36_000, 100)]),
      ]
    }
    if let accuracy = point.accuracy, (0...1e7).contains(accuracy) {
      tags.append(.rationals(0x1f, [(Int((accuracy * 100).rounded()), 100)]))
    }
    return tags
  }
}

/// A value of a directory of TIFF, little-endian.
private struct Tag {
  var id: UInt16
  var type: UInt16
  var count: Int
  var bytes: [UInt8]

  static func text(_ id: UInt16, _ text: String) -> Tag {
    Tag(id: id, type: 2, count: text.utf8.count + 1, bytes: Array(text.utf8) + [0])
  }

  static func undefined(_ id: UInt16, _ text: String) -> Tag {
    Tag(id: id, type: 7, count: text.utf8.count, bytes: Array(text.utf8))
  }

  static func short(_ id: UInt16, _ value: Int) -> Tag {
    Tag(id: id, type: 3, count: 1, bytes: little(UInt16(clamping: value)))
  }

  static func long(_ id: UInt16, _ value: Int) -> Tag {
    Tag(id: id, type: 4, count: 1, bytes: little(UInt32(clamping: value)))
  }

  static func rationals(_ id: UInt16, _ values: [(Int, Int)]) -> Tag {
    Tag(
      id: id, type: 5, count: values.count,
      bytes: values.flatMap { little(UInt32(clamping: $0.0)) + little(UInt32(clamping: $0.1)) })
  }

  /// Degrees, minutes and millionths of seconds.
  static func degrees(_ id: UInt16, _ degrees: Double) -> Tag {
    let total = Int((abs(degrees) * 3_600_000_000).rounded())
    return rationals(
      id,
      [
        (total / 3_600_000_000, 1), (total / 60_000_000 % 60, 1),
        (total % 60_000_000, 1_000_000),
      ])
  }

  private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  /// The size of a directory of so many tags, without what lies behind it.
  static func bytes(of count: Int) -> Int { 2 + 12 * count + 4 }

  /// The directory that begins at `start`: values of more than four bytes follow it.
  static func directory(_ tags: [Tag], at start: Int) -> [UInt8] {
    var table = little(UInt16(tags.count))
    var rest: [UInt8] = []
    for tag in tags.sorted(by: { $0.id < $1.id }) {
      table += little(tag.id) + little(tag.type) + little(UInt32(tag.count))
      if tag.bytes.count <= 4 {
        table += tag.bytes + Array(repeating: 0, count: 4 - tag.bytes.count)
      } else {
        table += little(UInt32(start + bytes(of: tags.count) + rest.count))
        rest += tag.bytes + Array(repeating: 0, count: tag.bytes.count % 2)
      }
    }
    return table + [0, 0, 0, 0] + rest
  }
}
