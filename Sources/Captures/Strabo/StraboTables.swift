import Core
import FoundationEssentials
import SystemPackage

/// The content of `capture-info.json`.
struct StraboInfo {
  static let file = "capture-info.json"
  private static let knownKeys: Set<String> = [
    "media_type", "token", "title", "created_at", "uploaded_at", "coords", "heading", "orientation",
    "media_file", "geodata_file", "thumbnail_file",
    // In copies merged by the server.
    "points",
  ]

  enum MediaType: String {
    case video, image
  }

  /// The media type that the app states; the content of the file decides.
  let mediaType: MediaType?
  let token: String?
  let title: String?
  /// Unix seconds: for a video the end of the recording, for an image its time.
  let createdAt: Double?
  /// Unix seconds; `nil`: never.
  let uploadedAt: Double?
  /// `vertical` or `horizontal`. Pictures are never turned by it: apps write `vertical` for every still.
  let orientation: String?
  /// First position in degrees; `nil` when absent, out of range or [0, 0].
  let coordinates: (latitude: Double, longitude: Double)?
  /// First true heading in degrees, 0…360.
  let heading: Double?
  /// Keys of the object that this reader does not know.
  let unknownKeys: [String]
  /// Keys that every capture has and this one lacks.
  let missingKeys: [String]
  private let values: [String: StraboValue]

  /// Reads the description of `folder`. Throws when it is not a JSON object.
  init(_ folder: FilePath) throws(CaptureError) {
    let path = folder.appending(Self.file)
    let values: [String: StraboValue]
    do {
      // Copies merged by the server contain the points as well.
      let bytes = try InputFile(path).whole(limit: InputLimits.bytesOfDescription)
      values = try LooseJSON.decode(
        [String: StraboValue].self, from: TextBytes.utf8(bytes), of: path)
    } catch let error as FileError {
      throw CaptureError(error, of: path)
    } catch {
      throw CaptureError(
        file: path, problem: "not a JSON object: \(StraboInfo.reason(error))",
        remedy: "copy the capture again; the app itself does not check whether copying worked")
    }
    self.values = values
    mediaType = values["media_type"]?.text.flatMap(MediaType.init)
    token =
      values["token"]?.text.flatMap { $0.isEmpty ? nil : $0 } ?? Self.token(ofPathsIn: values)
    title = values["title"]?.text
    // The app writes values below 500 for an unknown time.
    func moment(_ key: String) -> Double? {
      values[key]?.number.flatMap { (500..<1e11).contains($0) ? $0 : nil }
    }
    createdAt = moment("created_at")
    uploadedAt = moment("uploaded_at")
    orientation = values["orientation"]?.text.flatMap { $0.isEmpty ? nil : $0 }
    coordinates = values["coords"]?.coordinates.flatMap { latitude, longitude in
      let isNull = latitude == 0 && longitude == 0
      return abs(latitude) <= 90 && abs(longitude) <= 180 && !isNull ? (latitude, longitude) : nil
    }
    heading = values["heading"]?.number.flatMap { (0...360).contains($0) ? $0 : nil }
    unknownKeys = values.keys.filter { !Self.knownKeys.contains($0) }.sorted()
    missingKeys = ["media_type", "token"].filter { values[$0]?.isNull ?? true }
  }

  /// The path of a key; `nil` for an absent key.
  func path(_ key: StraboFileKey) -> String? { values[key.rawValue]?.text }

  /// Whether the object has the keys by which a capture is recognized.
  var isCapture: Bool { values["media_type"] != nil || values["geodata_file"] != nil }

  /// `v1`: a SHA-256 as token, and paths that include a folder.
  var generation: String {
    let paths = StraboFileKey.allCases.compactMap(path)
    let isDigest =
      token.map { $0.utf8.count == 64 && $0.utf8.allSatisfy(Self.isLowerHex) } ?? false
    return isDigest && !paths.isEmpty && paths.allSatisfy { $0.utf8.contains(UInt8(ascii: "/")) }
      ? "v1" : "v0"
  }

  /// The token of a path such as `TOKEN/TOKEN.mov`; `nil` if no path has that form.
  private static func token(ofPathsIn values: [String: StraboValue]) -> String? {
    for key in StraboFileKey.allCases {
      let parts = (values[key.rawValue]?.text ?? "").split(
        separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, let dot = parts[1].lastIndex(of: "."),
        parts[1][..<dot] == parts[0]
      else { continue }
      return String(parts[0])
    }
    return nil
  }

  private static func isLowerHex(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  static func reason(_ error: any Error) -> String {
    switch error as? DecodingError {
    case .dataCorrupted(let context)?, .typeMismatch(_, let context)?,
      .keyNotFound(_, let context)?, .valueNotFound(_, let context)?:
      context.debugDescription
    default: "\(error)"
    }
  }
}

/// The keys of `capture-info.json` that name files.
enum StraboFileKey: String, CaseIterable {
  case media = "media_file"
  case geo = "geodata_file"
  case thumbnail = "thumbnail_file"
}

extension StraboValue {
  var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

/// A value of the app's JSON, in which numbers are sometimes written as text.
enum StraboValue: Decodable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([StraboValue])
  case object

  init(from decoder: any Decoder) throws {
    if var list = try? decoder.unkeyedContainer() {
      var values: [StraboValue] = []
      while !list.isAtEnd { values.append(try list.decode(StraboValue.self)) }
      self = .list(values)
      return
    }
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else {
      self = .object
    }
  }

  /// A finite number, also if written as text.
  var number: Double? {
    switch self {
    case .number(let number): number
    case .text(let text): Self.decimal(text)
    case .null, .flag, .list, .object: nil
    }
  }

  /// The finite decimal number in a text.
  private static func decimal(_ text: String) -> Double? {
    let trimmed = text.drop { $0 == " " }
    guard trimmed.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }),
      let value = Double(trimmed), value.isFinite
    else { return nil }
    return value
  }

  /// A text, also if a whole number is written without quotes.
  var text: String? {
    switch self {
    case .text(let text): text
    case .number(let number): Int64(exactly: number).map(String.init)
    case .null, .flag, .list, .object: nil
    }
  }

  /// At least two numbers: latitude, longitude.
  var coordinates: (latitude: Double, longitude: Double)? {
    guard case .list(let list) = self, list.count >= 2, let latitude = list[0].number,
      let longitude = list[1].number
    else { return nil }
    return (latitude, longitude)
  }
}

/// The points of a capture's geo data in the order of recording, without damaged and stale ones.
struct StraboGeoLog {
  /// Points of this recording may be up to this much after its end; points of an earlier one are
  /// later.
  private static let endToleranceNanoseconds: Int64 = 1_000_000_000

  var track = GeoTrack()
  /// Distinct times, ascending.
  private(set) var times: [Timestamp] = []
  /// Whether the file is cut.
  private(set) var isCut = false

  /// The log of a capture without geo data.
  init(withoutFile warnings: WarningCollector) {
    self.init()
    Self.reportNoPoints(warnings)
  }

  private init() {}

  /// Reads the points of `path`. `mediaNanoseconds` is the media's duration, 0 for a still, `nil`
  /// when unknown, in which case no point is stale. Throws for a file that is not JSON or has no
  /// list of points.
  init(_ path: FilePath, mediaNanoseconds: Int64?, warnings: WarningCollector) throws(CaptureError)
  {
    let (written, isCut) = try Self.points(of: path)
    if isCut {
      warnings.add(
        .truncatedStream, "geo",
        "\(path.lastComponent?.string ?? "the geo data") breaks off: its complete points are used")
    }
    var points = written.compactMap(\.point)
    let isStale = Self.stale(points, after: mediaNanoseconds)
    let bounds = TimeBounds(zip(points, isStale).lazy.filter { !$0.1 }.map(\.0.timestamp))
    let isKept = zip(points, isStale).map { $1 || bounds.contains($0.timestamp) }
    let near = zip(points, isKept).filter(\.1).map(\.0)
    warnings.add(
      .corruptRecord, "geo", count: written.count - near.count,
      "points without usable time or coordinates, or more than an hour away from all others")
    let steps = zip(near.dropFirst(), near).map { $0.timestamp - $1.timestamp }
    warnings.add(
      .geoUnordered, "geo", count: steps.count { $0 < 0 },
      "points that go back in time; they were sorted")
    points = zip(points, zip(isStale, isKept)).filter { !$1.0 && $1.1 }.map(\.0)
    self.init()
    self.isCut = isCut
    guard !points.isEmpty else {
      Self.reportNoPoints(warnings)
      return
    }
    times = Set(points.map(\.timestamp)).sorted()
    warnings.add(
      .timestampsDuplicate, "geo", count: points.count - times.count,
      "points at the same time as another point; the last one in the file is used")
    track.positions = points.compactMap(\.position)
    track.headings = points.compactMap(\.trueHeading)
    warnings.add(
      .geoNoFix, "geo", count: points.count - track.positions.count, "points without valid position"
    )
  }

  private static func reportNoPoints(_ warnings: WarningCollector) {
    warnings.add(.geoNoFix, "geo", "no points: the capture's own position and heading are held")
  }

  /// For each point, whether it is left over from an earlier recording: it precedes the recording's
  /// first point and its time is after the recording's end. Always false if the media's duration is
  /// unknown.
  private static func stale(_ points: [StraboPoint], after mediaNanoseconds: Int64?) -> [Bool] {
    guard let mediaNanoseconds,
      let first = points.firstIndex(where: { $0.timestamp.nanoseconds == 0 })
    else { return points.map { _ in false } }
    let end = Timestamp(nanoseconds: mediaNanoseconds)
      .advanced(byNanoseconds: endToleranceNanoseconds)
    return points.indices.map { $0 < first && points[$0].timestamp > end }
  }

  /// The points; of a cut file the complete ones.
  private static func points(
    of path: FilePath
  ) throws(CaptureError) -> (written: [StraboPoint.Written], isCut: Bool) {
    do {
      // Hours of points take some megabytes.
      let text = TextBytes.utf8(try InputFile(path).whole(limit: InputLimits.bytesOfJSON))
      do {
        return (try LooseJSON.decode(Content.self, from: text, of: path).points, false)
      } catch {
        guard let closed = LooseJSON.closed(Data(text), entriesAtDepth: 2),
          let content = try? LooseJSON.decode(Content.self, from: closed, of: path),
          !content.points.isEmpty
        else { throw error }
        return (content.points, true)
      }
    } catch let error as FileError {
      throw CaptureError(error, of: path)
    } catch {
      throw CaptureError(
        file: path, problem: "no JSON object with a list of points: \(StraboInfo.reason(error))",
        remedy: "copy the file again, or remove it to hold the capture's own position")
    }
  }

  private struct Content: Decodable {
    var points: [StraboPoint.Written]
  }
}

/// One entry of the geo data: an update of position or heading, which repeats the last value of the
/// other.
struct StraboPoint {
  /// Time since the recording's start.
  var timestamp: Timestamp
  var latitude: Double
  var longitude: Double
  /// Meters; negative if the position is invalid, `nil` = unknown.
  var accuracy: Double?
  /// Degrees as recorded; negative or above 360 if invalid, `nil` = unknown.
  var heading: Double?

  /// The position, unless it is invalid or means "no fix yet".
  var position: GeoPosition? {
    let isNoFix = latitude == 0 && longitude == 0 && accuracy == 0
    guard !isNoFix, (accuracy ?? 0) >= 0 else { return nil }
    return GeoPosition(
      timestamp: timestamp, latitude: latitude, longitude: longitude, accuracy: accuracy)
  }

  /// The heading in 0 ..< 360, unless it is invalid.
  var trueHeading: GeoHeading? {
    guard let heading, (0...360).contains(heading) else { return nil }
    return GeoHeading(timestamp: timestamp, degrees: heading == 360 ? 0 : heading)
  }

  /// An entry of the file, which may be any JSON value.
  struct Written: Decodable {
    /// `nil` without usable time or coordinates.
    let point: StraboPoint?

    private enum Key: String, CodingKey {
      case timestamp, accuracy, coords, heading
    }

    init(from decoder: any Decoder) throws {
      guard let values = try? decoder.container(keyedBy: Key.self),
        let time = try? values.superDecoder(forKey: .timestamp).singleValueContainer(),
        let timestamp = Self.seconds(time),
        let coordinates = try? values.decode(StraboValue.self, forKey: .coords).coordinates,
        abs(coordinates.latitude) <= 90, abs(coordinates.longitude) <= 180
      else {
        point = nil
        return
      }
      point = StraboPoint(
        timestamp: timestamp, latitude: coordinates.latitude, longitude: coordinates.longitude,
        accuracy: (try? values.decode(StraboValue.self, forKey: .accuracy))?.number,
        heading: (try? values.decode(StraboValue.self, forKey: .heading))?.number)
    }

    /// Seconds as decimal text or number, rounded to nanoseconds, without a binary floating-point number for up to 38
    /// digits.
    private static func seconds(_ value: any SingleValueDecodingContainer) -> Timestamp? {
      if let decimal = try? value.decode(Decimal.self) {
        return Timestamp(decimalSeconds: decimal.description)
      }
      if let number = try? value.decode(Double.self) { return Timestamp(exactSeconds: number) }
      guard let text = try? value.decode(String.self) else { return nil }
      return Timestamp(decimalSeconds: text.drop { $0 == " " })
    }
  }
}
